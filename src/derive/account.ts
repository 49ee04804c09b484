import type { ExactJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import { type AccountDoc, accounts, type Permission, type PermissionItem } from '#indices/account.ts'
import { findDigits, findText, type ParsedReceipt } from './receipt.ts'
import type { TxScope } from './scope.ts'

function signUp({ scope, tx }: TxScope, { args }: ParsedReceipt): void {
  const name = findText(args, 0)
  if (name === undefined) return
  const { block, state } = scope
  state.put(accounts, {
    id: name,
    name,
    // The contract intends to record its caller, but reads it from a text: it is always the publisher.
    creator: tx.publisher,
    height: block.height,
    time: block.time,
    tx_hash: tx.hash,
    permissions: [
      createPermission('active', '100', [
        { id: findText(args, 2) ?? '', is_key_pair: true, weight: '100', permission: '' },
      ]),
      createPermission('owner', '100', [
        { id: findText(args, 1) ?? '', is_key_pair: true, weight: '100', permission: '' },
      ]),
    ],
    groups: [],
  })
  scope.statistics.account_count += 1
  scope.ledger.open(name)
}

/**
 * Applies a receipt of auth.iost by the rules of go-iost `config/genesis/contract/account.js`. The node sorts
 * permissions and groups by name (protojson sorts map keys), and keeps items in the order of assignment.
 */
export function applyAccount(at: TxScope, parsed: ParsedReceipt): void {
  if (parsed.name === 'signUp') {
    signUp(at, parsed)
    return
  }
  const { scope, tx } = at
  const name = findText(parsed.args, 0)
  const subject = findText(parsed.args, 1)
  if (name === undefined || subject === undefined) return
  const before = scope.state.get(accounts, name)
  if (before === undefined)
    throw new Failure(
      'defect',
      `Block ${scope.block.height}, transaction ${tx.hash}: ${parsed.name} of "${name}", which was never registered.`,
    )
  const after = changeAccount(before, parsed, subject)
  if (after !== before) scope.state.put(accounts, after)
}

function changeAccount(account: AccountDoc, { name, args }: ParsedReceipt, subject: string): AccountDoc {
  const third = findText(args, 2) ?? ''
  const { permissions, groups } = account
  switch (name) {
    case 'addPermission':
      return { ...account, permissions: withOne(permissions, createPermission(subject, weightText(args, 2), [])) }
    case 'dropPermission':
      return { ...account, permissions: permissions.filter(one => one.name !== subject) }
    case 'addGroup':
      return { ...account, groups: withOne(groups, { name: subject, items: [] }) }
    case 'dropGroup':
      // Permissions keep the name of the dropped group: the contract's loop over them never runs.
      return { ...account, groups: groups.filter(one => one.name !== subject) }
    case 'assignPermission':
      return { ...account, permissions: addItem(permissions, subject, { item: third, weight: weightText(args, 3) }) }
    case 'revokePermission':
      return { ...account, permissions: removeItem(permissions, subject, third) }
    case 'assignGroup':
      return { ...account, groups: addItem(groups, subject, { item: third, weight: weightText(args, 3) }) }
    case 'revokeGroup':
      return { ...account, groups: removeItem(groups, subject, third) }
    case 'assignPermissionToGroup':
      return {
        ...account,
        // A permission may name a group more than once.
        permissions: replace(permissions, subject, one => ({ ...one, group_names: [...one.group_names, third] })),
      }
    case 'revokePermissionInGroup':
      return {
        ...account,
        permissions: replace(permissions, subject, one => {
          const at = one.group_names.indexOf(third)
          return at < 0 ? one : { ...one, group_names: one.group_names.toSpliced(at, 1) }
        }),
      }
    default:
      return account
  }
}

type Holder = { readonly name: string; readonly items: readonly PermissionItem[] }

/** A weight or threshold in the node's notation. */
const weightText = (args: readonly ExactJson[], at: number): string => findDigits(args, at) ?? findText(args, at) ?? '0'

const replace = <T extends { readonly name: string }>(
  all: readonly T[],
  name: string,
  by: (one: T) => T,
): readonly T[] => all.map(one => (one.name === name ? by(one) : one))

/**
 * Assigns an item, a key or `account@permission`. If the id of an item *is* the whole text, only its weight
 * changes. `account@permission` therefore always adds an item, even if the same one exists already.
 */
const addItem = <T extends Holder>(
  all: readonly T[],
  holder: string,
  { item, weight }: { readonly item: string; readonly weight: string },
): readonly T[] =>
  replace(all, holder, one => {
    const at = one.items.findIndex(other => other.id === item)
    const known = one.items[at]
    return {
      ...one,
      items: known ? one.items.with(at, { ...known, weight }) : [...one.items, toPermissionItem(item, weight)],
    }
  })

/** Removes the first item with that key, or with that account and permission. */
function removeItem<T extends Holder>(all: readonly T[], holder: string, item: string): readonly T[] {
  const { id, is_key_pair, permission } = toPermissionItem(item, '0')
  return replace(all, holder, one => {
    const at = one.items.findIndex(
      other => other.id === id && other.is_key_pair === is_key_pair && other.permission === permission,
    )
    return at < 0 ? one : { ...one, items: one.items.toSpliced(at, 1) }
  })
}

function toPermissionItem(text: string, weight: string): PermissionItem {
  const at = text.indexOf('@')
  if (at < 0) return { id: text, is_key_pair: true, weight, permission: '' }
  return { id: text.slice(0, at), is_key_pair: false, weight, permission: text.slice(at + 1) }
}

function createPermission(name: string, threshold: string, items: readonly PermissionItem[]): Permission {
  return { name, group_names: [], items, threshold }
}

/** Adds an element to a list in order of names; it replaces an element with the same name. */
const withOne = <T extends { readonly name: string }>(all: readonly T[], one: T): readonly T[] =>
  [...all.filter(other => other.name !== one.name), one].sort((a, b) => (a.name < b.name ? -1 : 1))
