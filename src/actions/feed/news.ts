import { Failure } from '#failure/failure.ts'
import { type BlockDoc, blocks } from '#indices/block.ts'
import { listAndOrdinal, lists } from '#indices/list.ts'
import { blockId } from '#indices/position.ts'
import type { RecordDoc } from '#indices/record.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { lacking } from '#store/lacking.ts'
import type { View } from '#store/port.ts'
import { transactionsFrom } from '../list/transactions.ts'
import type { Followed } from './followed.ts'

/** A list that is followed: all its rows before `next` are known to all who follow it. */
export type Following = { readonly followed: Followed; readonly next: number }

/** New rows of a list in its order, as `Listing.rows` takes them, each with its block; `first` is the `seq` of the first. */
export type News = {
  readonly first: number
  readonly docs: readonly unknown[]
  readonly heights: readonly number[]
}

/**
 * The rows that blocks above `height` brought to some lists, from `next` on: the store is read once for all of them.
 * undefined: none; 'unknown': something is wrong with the list, which is to be read by itself.
 */
export const newsOf = async (
  view: View,
  followings: readonly Following[],
  height: number,
): Promise<readonly (News | 'unknown' | undefined)[]> => {
  const records = await recordsByList(view, followings, height)
  const transactions = once(() => newTransactions(view, followings))
  const made = once(() => newBlocks(view, height))
  return Promise.all(
    followings.map(({ followed, next }) =>
      unlessBroken(async () => {
        const rows: readonly Row[] =
          followed.kind === 'records'
            ? (records.get(followed.key) ?? [])
            : await (followed.kind === 'blocks' ? made() : transactions())
        return inOrder(
          rows.filter(({ seq }) => seq >= next),
          next,
        )
      }),
    ),
  )
}

/** `doc`: as `Listing.rows` takes it. */
type Row = { readonly seq: number; readonly height: number; readonly doc: unknown }

/** What is wrong with one list is no reason to keep the rows of others back. */
export const unlessBroken = async <T>(work: () => Promise<T>): Promise<T | 'unknown'> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Failure && BROKEN.has(error.kind)) return 'unknown'
    throw error
  }
}
const BROKEN: ReadonlySet<Failure['kind']> = new Set(['damaged', 'defect', 'bad_request', 'bad_block'])

const inOrder = (rows: readonly Row[], next: number): News | undefined => {
  if (rows.length === 0) return undefined
  const ordered = rows.toSorted((a, b) => a.seq - b.seq)
  for (const [at, { seq }] of ordered.entries())
    if (seq !== next + at) throw lacking(`A list has no row ${next + at}, and a row ${seq} behind it.`)
  return { first: next, docs: ordered.map(({ doc }) => doc), heights: ordered.map(({ height }) => height) }
}

/** Rows by the keys of the lists that are followed. */
const recordsByList = async (
  view: View,
  followings: readonly Following[],
  height: number,
): Promise<ReadonlyMap<string, readonly Row[]>> => {
  const keys = new Map<number, string>()
  const after = new Map<number, number>()
  const follow = (number: number, key: string, next: number): void => {
    keys.set(number, key)
    after.set(number, Math.min(after.get(number) ?? Number.POSITIVE_INFINITY, next - 1))
  }
  const begun = followings.flatMap(({ followed, next }) =>
    followed.kind === 'records' && followed.number === undefined ? [{ key: followed.key, next }] : [],
  )
  const found = await view.getMany(
    lists,
    begun.map(({ key }) => key),
  )
  for (const [at, { key, next }] of begun.entries()) {
    const list = found[at]
    if (list !== undefined) follow(list.number, key, next)
  }
  for (const { followed, next } of followings)
    if (followed.kind === 'records' && followed.number !== undefined)
      follow(followed.number, followed.key, next)
  if (after.size === 0) return new Map()
  return byKey(await view.newRecords(after, height), keys)
}

const byKey = (
  docs: readonly RecordDoc[],
  keys: ReadonlyMap<number, string>,
): ReadonlyMap<string, readonly Row[]> => {
  const rows = new Map<string, Row[]>()
  for (const doc of docs)
    for (const { list, ordinal } of doc.places.map(listAndOrdinal)) {
      const key = keys.get(list)
      if (key === undefined) continue
      const own = rows.get(key) ?? []
      own.push({ seq: ordinal, height: doc.height, doc: { seq: ordinal, doc } })
      rows.set(key, own)
    }
  return rows
}

const newTransactions = async (view: View, followings: readonly Following[]): Promise<readonly Row[]> => {
  const first = Math.min(
    ...followings.flatMap(({ followed, next }) => (followed.kind === 'transactions' ? [next] : [])),
  )
  const count = (await view.get(statistics, STATISTICS))?.transaction_count ?? 0
  if (first > count) return []
  const docs = await transactionsFrom(view, first, count)
  return docs.map((doc, at) => ({ seq: first + at, height: doc.doc.height, doc: { seq: first + at, doc } }))
}

/** The list of blocks begins with block 0. */
const newBlocks = async (view: View, height: number): Promise<readonly Row[]> => {
  const heights = Array.from({ length: view.at.height - height }, (_, at) => height + 1 + at)
  const docs: readonly (BlockDoc | undefined)[] = await view.getMany(blocks, heights.map(blockId))
  return docs.map((doc, at) => {
    if (doc === undefined) throw lacking(`Block ${heights[at]} of ${view.at.height} is not stored.`)
    const seq = doc.height + 1
    return { seq, height: doc.height, doc: { seq, doc } }
  })
}

/** Work that several need, done when the first one does. */
const once = <T>(work: () => Promise<T>): (() => Promise<T>) => {
  let done: Promise<T> | undefined
  return () => {
    done ??= work()
    return done
  }
}
