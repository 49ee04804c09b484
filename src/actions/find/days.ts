import { dateOf } from '#chain/time.ts'
import { type DayDoc, days } from '#indices/day.ts'
import { lacking } from '#store/lacking.ts'
import type { View } from '#store/port.ts'

/** A UTC day since 1970 and its figures; those of a day without blocks are made. */
export type Day = { readonly day: number; readonly doc: DayDoc }

/** Days read at once to find the last one with blocks. */
const BACK = 1_000

/** Figures of each day from `from` to `to`; `genesis`, not after `from`, is the day of the first block. */
export const daysBetween = async (
  view: View,
  { from, to, genesis }: { readonly from: number; readonly to: number; readonly genesis: number },
): Promise<readonly Day[]> => {
  if (from > to) return []
  const docs = await docsOf(view, from, to)
  let last = docs[0] ?? (await lastBefore(view, from, genesis))
  return docs.map((stored, at) => {
    const day = from + at
    const doc: DayDoc = stored ?? { ...last, ...NOTHING, id: dateOf(day) }
    last = doc
    return { day, doc }
  })
}

/** The last day with blocks before `day`. */
const lastBefore = async (view: View, day: number, genesis: number): Promise<DayDoc> => {
  for (let to = day - 1; to >= genesis; to -= BACK) {
    const found = (await docsOf(view, Math.max(genesis, to - BACK + 1), to)).findLast(
      doc => doc !== undefined,
    )
    if (found !== undefined) return found
  }
  throw lacking(`There is no day with blocks before ${dateOf(day)}.`)
}

const docsOf = (view: View, from: number, to: number): Promise<readonly (DayDoc | undefined)[]> =>
  view.getMany(
    days,
    Array.from({ length: to - from + 1 }, (_, at) => dateOf(from + at)),
  )

/** What did not happen on a day without blocks. */
const NOTHING = {
  blocks: 0,
  transactions: 0,
  failed: 0,
  actions: 0,
  movements: 0,
  new_accounts: 0,
  new_contracts: 0,
  gas_usage: 0n,
  iost_moved: '0',
  ram_fees: 0n,
  highest_tps: 0,
} as const
