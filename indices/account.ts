import { type DocOf, defineIndex, int, json, long, name, text } from './define.ts'

/** An item of a permission or a group: a key, or another account's permission. */
export type PermissionItem = {
  readonly id: string
  readonly is_key_pair: boolean
  readonly weight: string
  readonly permission: string
}
export type Permission = {
  readonly name: string
  readonly group_names: readonly string[]
  readonly items: readonly PermissionItem[]
  readonly threshold: string
}

/** Accounts signed up, genesis included. Id: the name. */
export const accounts = defineIndex({
  name: 'accounts',
  kind: 'state',
  named: 'name',
  fields: {
    name: name(),
    /** Publisher of the transaction with the signUp receipt. */
    creator: text(),
    height: int(),
    time: long(),
    tx_hash: text(),
    /** In the node's order. Arrays, not objects: `__proto__` is a legal name. */
    permissions: json<readonly Permission[]>(),
    groups: json<readonly { readonly name: string; readonly items: readonly PermissionItem[] }[]>(),
  },
})
export type AccountDoc = DocOf<typeof accounts>
