import type { ExactJson } from '#chain/json.ts'
import type { Permission, PermissionItem } from '#indices/account.ts'
import { digitsAt, textAt } from './receipt.ts'

type Holder = { readonly name: string; readonly items: readonly PermissionItem[] }

/** A weight or threshold as the node writes it. */
export const weightText = (args: readonly ExactJson[], at: number): string =>
  digitsAt(args, at) ?? textAt(args, at) ?? '0'

const replace = <T extends { readonly name: string }>(
  all: readonly T[],
  name: string,
  by: (one: T) => T,
): readonly T[] => all.map(one => (one.name === name ? by(one) : one))

/**
 * Assigns an item, a key or `account@permission`. An item whose id *is* the whole text only gets the new weight;
 * `account@permission` therefore always becomes one more item, even if it is there already.
 */
export const addItem = <T extends Holder>(
  all: readonly T[],
  holder: string,
  { item, weight }: { readonly item: string; readonly weight: string },
): readonly T[] =>
  replace(all, holder, one => {
    const known = one.items.findIndex(other => other.id === item)
    if (known >= 0)
      return { ...one, items: one.items.map((other, at) => (at === known ? { ...other, weight } : other)) }
    return { ...one, items: [...one.items, itemOf(item, weight)] }
  })

/** Takes out the first item of that key, or of that account and permission. */
export const removeItem = <T extends Holder>(
  all: readonly T[],
  holder: string,
  item: string,
): readonly T[] => {
  const { id, permission } = itemOf(item, '0')
  return replace(all, holder, one => {
    const at = one.items.findIndex(other => other.id === id && other.permission === permission)
    return at < 0 ? one : { ...one, items: one.items.filter((_, other) => other !== at) }
  })
}

const itemOf = (text: string, weight: string): PermissionItem => {
  const at = text.indexOf('@')
  if (at < 0) return { id: text, is_key_pair: true, weight, permission: '' }
  return { id: text.slice(0, at), is_key_pair: false, weight, permission: text.slice(at + 1) }
}

/** A permission may name a group more than once. */
export const addLink = (all: readonly Permission[], name: string, group: string): readonly Permission[] =>
  replace(all, name, one => ({ ...one, group_names: [...one.group_names, group] }))

export const dropLink = (all: readonly Permission[], name: string, group: string): readonly Permission[] =>
  replace(all, name, one => {
    const at = one.group_names.indexOf(group)
    return at < 0 ? one : { ...one, group_names: one.group_names.filter((_, other) => other !== at) }
  })
