import { type ListDoc, lists, placeOf } from '#indices/list.ts'
import type { State } from './state.ts'

/** Lists of records while a block is derived. */
export type ListCounts = {
  /** Place of the next row of a list. A list gets its number at its first row. */
  next(key: string): bigint
  settle(): void
}

type Draft = {
  readonly number: number
  readonly starts: ListDoc['starts']
  count: number
  /** Place of the last row. */
  place: bigint
}

/** `partition` is the one the block's rows go to. */
export const listCounts = (state: State, figures: { list_count: number }, partition: number): ListCounts => {
  const drafts = new Map<string, Draft>()
  const draft = (key: string) => {
    const known = drafts.get(key)
    if (known !== undefined) return known
    const before = state.get(lists, key)
    if (before === undefined) figures.list_count += 1
    const { number, starts, count } = before ?? { number: figures.list_count, starts: [], count: 0 }
    const fresh = {
      number,
      starts: startsWith(starts, partition, count),
      count,
      place: placeOf(number, count),
    }
    drafts.set(key, fresh)
    return fresh
  }
  return {
    next: key => {
      const list = draft(key)
      list.count += 1
      list.place += 1n
      return list.place
    },
    settle: () => {
      for (const [id, { number, count, starts }] of drafts) state.put(lists, { id, number, count, starts })
    },
  }
}

/** A draft is made for a row to come: where the list has none in the partition yet, that row is its first there. */
const startsWith = (starts: ListDoc['starts'], partition: number, count: number): ListDoc['starts'] =>
  starts.at(-1)?.[0] === partition ? starts : [...starts, [partition, count + 1]]
