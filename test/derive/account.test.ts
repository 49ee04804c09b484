import { expect, test } from 'bun:test'
import { accounts } from '#indices/account.ts'
import { receipt } from '#test/support/stores/hand-made.ts'
import { derive, sendReceipts } from '#test/support/stores/hand-made-derived.ts'

/** Account alice00 after receipts of auth.iost, each given as a name and the arguments after the account. */
function after(...said: readonly (readonly [name: string, ...args: readonly unknown[]])[]) {
  const receipts = said.map(([name, ...args]) => receipt(`auth.iost/${name}`, ['alice00', ...args]))
  const { state } = derive([sendReceipts(...receipts)])
  const { permissions, groups } = state.get(accounts, 'alice00') ?? {}
  return { permissions: permissions?.filter(({ name }) => name !== 'active' && name !== 'owner'), groups }
}
const key = (id: string, weight: string) => ({ id, is_key_pair: true, weight, permission: '' })
const other = (id: string, permission: string, weight: string) => ({ id, is_key_pair: false, weight, permission })

test('applyAccount: assigning a key again changes its weight, assigning an account again adds it again', () => {
  const { permissions } = after(
    ['addPermission', 'perm', 1],
    ['assignPermission', 'perm', 'key1', 1],
    ['assignPermission', 'perm', 'bob0000@active', 2],
    ['assignPermission', 'perm', 'key1', 7],
    ['assignPermission', 'perm', 'bob0000@active', 8],
    // An item is found by its id alone, with any permission.
    ['assignPermission', 'perm', 'bob0000', 9],
  )
  const items = [key('key1', '7'), other('bob0000', 'active', '9'), other('bob0000', 'active', '8')]
  expect(permissions).toEqual([{ name: 'perm', group_names: [], items, threshold: '1' }])
})

test('applyAccount: revoking removes the first item with that key, or with that account and permission', () => {
  const items = after(
    ['addGroup', 'grp'],
    ['assignGroup', 'grp', 'bob0000@active', 1],
    ['assignGroup', 'grp', 'bob0000@owner', 2],
    ['assignGroup', 'grp', 'bob0000@active', 3],
    ['assignGroup', 'grp', 'key1', 4],
    ['revokeGroup', 'grp', 'bob0000@active'],
    ['revokeGroup', 'grp', 'key1'],
    // No key with this name exists.
    ['revokeGroup', 'grp', 'bob0000'],
  ).groups
  expect(items).toEqual([{ name: 'grp', items: [other('bob0000', 'owner', '2'), other('bob0000', 'active', '3')] }])
})

test('applyAccount: revoking a key leaves the item of an account with that name, whose permission has no name', () => {
  const said = [
    ['addGroup', 'grp'],
    ['assignGroup', 'grp', 'bob0000@', 1],
    ['assignGroup', 'grp', 'key1', 2],
    ['assignGroup', 'grp', 'key1@', 3],
  ] as const
  expect(after(...said, ['revokeGroup', 'grp', 'bob0000']).groups).toEqual([
    { name: 'grp', items: [other('bob0000', '', '1'), key('key1', '2'), other('key1', '', '3')] },
  ])
  expect(after(...said, ['revokeGroup', 'grp', 'key1@']).groups).toEqual([
    { name: 'grp', items: [other('bob0000', '', '1'), key('key1', '2')] },
  ])
})

test('applyAccount: permissions keep the name of a dropped group until it is revoked there', () => {
  const said = [
    ['addPermission', 'perm', 1],
    ['addGroup', 'grp'],
    ['assignPermissionToGroup', 'perm', 'grp'],
    ['assignPermissionToGroup', 'perm', 'grp'],
    ['dropGroup', 'grp'],
  ] as const
  const named = (names: readonly string[]) => ({
    permissions: [{ name: 'perm', group_names: names, items: [], threshold: '1' }],
    groups: [],
  })
  expect(after(...said)).toEqual(named(['grp', 'grp']))
  expect(after(...said, ['revokePermissionInGroup', 'perm', 'grp'])).toEqual(named(['grp']))
  expect(after(...said, ['dropPermission', 'perm'])).toEqual({ permissions: [], groups: [] })
})

test('applyAccount: a receipt of an account that never signed up stops the load', () => {
  const tx = sendReceipts(receipt('auth.iost/addGroup', ['nobody0', 'grp']))
  expect(() => derive([tx])).toThrow('addGroup of "nobody0", which was never registered.')
})
