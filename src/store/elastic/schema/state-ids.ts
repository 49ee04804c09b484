import type { Index, Order } from '#indices/define.ts'
import { series } from '#indices/series.ts'

/** Indices with documents of state: series, whose full parts never change again, and all other kinds together. */
export const STATE_INDICES = ['state', 'series'] as const

type Kind = Pick<Index, 'name'>

/** Name without prefix of the index that contains a kind of state documents. */
export function stateIndexOf({ name }: Kind): (typeof STATE_INDICES)[number] {
  return name === series.name ? 'series' : 'state'
}

/** Begins the ids of a kind in the index `state`, where documents of several kinds may have equal ids. */
const prefixOf = (kind: Kind): string => (stateIndexOf(kind) === 'state' ? `${kind.name}/` : '')

/** Id under which Elasticsearch stores a state document. */
export function toStateId(kind: Kind, id: string): string {
  return prefixOf(kind) + id
}

/** The id of a state document by the id under which it is stored. */
export function fromStateId(kind: Kind, stored: string): string {
  return stored.slice(prefixOf(kind).length)
}

/**
 * Fields that all kinds of the index `state` share. Its sort on disk consists of the first four: the kind, and the group,
 * amount and member of the first order of that kind. All other fields keep their names.
 */
export const [KIND, GROUP, VALUE, MEMBER] = ['kind', 'group', 'value', 'member'] as const
/** The stored id again, in documents that are found by a prefix of their names. */
export const NAMED = 'named'

/** The stored names of the fields by which a kind is sorted on disk. */
export function storedNamesOf(index: Pick<Index, 'name' | 'kind' | 'orders'>): Readonly<Record<string, string>> {
  const first = firstOrderOf(index)
  if (first === undefined) return {}
  const { group, by } = first
  const [value, member] = by
  return {
    ...(group === undefined ? {} : { [group]: GROUP }),
    ...(isSortedOnDisk(first) && value && member ? { [value[0]]: VALUE, [member[0]]: MEMBER } : {}),
  }
}

/** The first order of a kind in the index `state`. */
export function firstOrderOf(index: Pick<Index, 'name' | 'kind' | 'orders'>): Order | undefined {
  return index.kind === 'state' && stateIndexOf(index) === 'state' ? Object.values(index.orders)[0] : undefined
}

/** Whether an order goes by an amount, descending, and a name, as the index does. */
export function isSortedOnDisk({ by }: Order): boolean {
  return by.length === 2 && by[0]?.[1] === 'desc' && by[1]?.[1] === 'asc'
}
