import { Failure } from '#failure/failure.ts'
import { type AccountDoc, accounts } from '#indices/account.ts'
import { group, permission, withGroup, withPermission } from './permission.ts'
import { addItem, addLink, dropLink, removeItem, weightText } from './permission-item.ts'
import { type Said, textAt } from './receipt.ts'
import type { TxScope } from './scope.ts'

/**
 * Applies a receipt of auth.iost by the rules of go-iost `config/genesis/contract/account.js`. The node lists permissions
 * and groups by name (protojson sorts map keys), items in the order they were assigned.
 */
export const applyAccount = (at: TxScope, said: Said): void => {
  if (said.name === 'signUp') signUp(at, said)
  else change(at, said)
}

const signUp = ({ scope, tx }: TxScope, { args }: Said): void => {
  const name = textAt(args, 0)
  if (name === undefined) return
  const { block, state } = scope
  state.put(accounts, {
    id: name,
    name,
    // The contract means to note its caller, but reads it from a text: it is always the publisher.
    creator: tx.publisher,
    height: block.height,
    time: block.time,
    tx_hash: tx.hash,
    permissions: [
      permission('active', '100', [
        { id: textAt(args, 2) ?? '', is_key_pair: true, weight: '100', permission: '' },
      ]),
      permission('owner', '100', [
        { id: textAt(args, 1) ?? '', is_key_pair: true, weight: '100', permission: '' },
      ]),
    ],
    groups: [],
  })
  scope.statistics.account_count += 1
  scope.ledger.open(name)
}

const change = ({ scope, tx }: TxScope, said: Said): void => {
  const name = textAt(said.args, 0)
  const subject = textAt(said.args, 1)
  if (name === undefined || subject === undefined) return
  const before = scope.state.get(accounts, name)
  if (before === undefined)
    throw new Failure(
      'defect',
      `Block ${scope.block.height}, transaction ${tx.hash}: ${said.name} of "${name}", which was never registered.`,
    )
  const after = changed(before, said, subject)
  if (after !== before) scope.state.put(accounts, after)
}

const changed = (account: AccountDoc, { name, args }: Said, subject: string): AccountDoc => {
  const third = textAt(args, 2) ?? ''
  const { permissions, groups } = account
  switch (name) {
    case 'addPermission':
      return {
        ...account,
        permissions: withPermission(permissions, permission(subject, weightText(args, 2), [])),
      }
    case 'dropPermission':
      return { ...account, permissions: permissions.filter(one => one.name !== subject) }
    case 'addGroup':
      return { ...account, groups: withGroup(groups, group(subject, [])) }
    case 'dropGroup':
      // Permissions keep the dropped group's name: the contract's loop over them never runs.
      return { ...account, groups: groups.filter(one => one.name !== subject) }
    case 'assignPermission':
      return {
        ...account,
        permissions: addItem(permissions, subject, { item: third, weight: weightText(args, 3) }),
      }
    case 'revokePermission':
      return { ...account, permissions: removeItem(permissions, subject, third) }
    case 'assignGroup':
      return { ...account, groups: addItem(groups, subject, { item: third, weight: weightText(args, 3) }) }
    case 'revokeGroup':
      return { ...account, groups: removeItem(groups, subject, third) }
    case 'assignPermissionToGroup':
      return { ...account, permissions: addLink(permissions, subject, third) }
    case 'revokePermissionInGroup':
      return { ...account, permissions: dropLink(permissions, subject, third) }
    default:
      return account
  }
}
