import { type ListDoc, lists } from '#indices/list.ts'
import type { ListedRecord } from '#indices/record.ts'
import type { View } from '#store/port.ts'
import type { Context } from '../define.ts'
import { bodiesOf } from '../find/bodies.ts'
import { refuseBeyondLoaded } from '../find/loading.ts'
import { textsOf } from '../find/overflow.ts'
import type { Range } from '../request/range.ts'
import { type Merge, type Merged, mergeOf, type Run } from './merge.ts'
import { type RangeInOrder, requireBlock, rowsWithin } from './numbered.ts'
import { heightOf } from './row-id.ts'
import { asksTexts, mayPass, passes } from './row-test.ts'
import type { ListSelection, RowTest, Search } from './searched.ts'

/**
 * A search of lists for rows within a range that pass a test, in the requested order; lists that do not exist
 * have no rows. Throws 'loading' for a range beyond the loaded blocks, 'replaced' when another block has
 * replaced that of `after`.
 */
export const searchOf = async (
  context: Pick<Context, 'view' | 'node' | 'head' | 'clock'>,
  later: ListSelection,
  { sort, after, ...range }: RangeInOrder,
): Promise<{ readonly search: Search; readonly size: number; readonly counts: readonly number[] }> => {
  const { view } = context
  refuseBeyondLoaded(context, range, 0)
  if (after !== undefined) await requireBlock(context, { height: heightOf(after.position), hash: after.hash })
  const runs = await runsOf(view, later.keys, { ...range, sort, position: after?.position })
  const size = runs.reduce((sum, { first, last }) => sum + Math.max(0, last - first + 1), 0)
  const counts = runs.map(({ list }) => list.count)
  return { search: searchIn(mergeOf(runs, sort), testsOf(later)), size, counts }
}

/** A search of the rows added to lists since they had the given numbers of rows, oldest first. */
export const searchBehind = async (
  view: View,
  later: ListSelection,
  counts: readonly number[],
): Promise<{ readonly rest: Search; readonly counts: readonly number[] }> => {
  const docs = await view.getMany(lists, later.keys)
  const runs = docs.map((list = NO_LIST, at): Run => ({ list, first: (counts[at] ?? 0) + 1, last: list.count }))
  return { rest: searchIn(mergeOf(runs, 'asc'), testsOf(later)), counts: runs.map(({ last }) => last) }
}

type Part = Range & { readonly sort: 'asc' | 'desc'; readonly position: string | undefined }

/** The part of each list within a range and after a position. A list without rows there has an empty run. */
const runsOf = async (
  view: View,
  keys: readonly string[],
  { sort, position, ...range }: Part,
): Promise<readonly Run[]> => {
  const docs = await view.getMany(lists, keys)
  return Promise.all(
    docs.map(async (list): Promise<Run> => {
      if (list === undefined) return NO_RUN
      const { before, total } = await rowsWithin(view, numberedOf(list), range)
      const run = { list, first: before + 1, last: before + total }
      if (position === undefined || total === 0) return run
      const upTo = await countUpTo(view, list, position)
      return sort === 'asc'
        ? { ...run, first: Math.max(run.first, upTo.through + 1) }
        : { ...run, last: Math.min(run.last, upTo.before) }
    }),
  )
}

const NO_LIST: ListDoc = { id: '', number: 0, count: 0, starts: [] }
const NO_RUN: Run = { list: NO_LIST, first: 1, last: 0 }

const numberedOf = (list: ListDoc) => ({
  count: list.count,
  moments: (view: View, ordinals: readonly number[]) => view.moments(list, ordinals),
})

/** Number of rows of a list before a position, and up to and including it. */
const countUpTo = async (view: View, list: ListDoc, position: string) => {
  const height = BigInt(heightOf(position))
  const { before, total } = await rowsWithin(view, numberedOf(list), {
    start_block: height,
    end_block: height,
  })
  const docs = total === 0 ? [] : await view.records(list, before + 1, before + total)
  const lower = docs.filter(({ id }) => id < position).length
  const isThere = docs.some(({ id }) => id === position)
  return { before: before + lower, through: before + lower + (isThere ? 1 : 0) }
}

/** The test of each list; undefined: all rows pass. */
type Tests = readonly RowTest[] | undefined

const testsOf = ({ keys, test, owners }: ListSelection): Tests =>
  test && keys.map((_key, at) => (owners === undefined ? test : { ...test, sides: new Set(owners.slice(at, at + 1)) }))

const searchIn = (merge: Merge, tests: Tests): Search => ({
  next: async (view, limit) => {
    const { rows, rest } = await merge.next(view, limit)
    return {
      found: tests === undefined ? rows : await passing(view, rows, tests),
      last: rows.at(-1)?.doc.id,
      tested: rows.length,
      rest: searchIn(rest, tests),
    }
  },
  isOver: merge.isOver,
})

/** Number of rows whose texts are read at once: they may have 130 KB each. */
const LONG_AT_ONCE = 64

/** Rows in parts whose texts fit in memory. */
export const inParts = (found: readonly Merged[]): readonly (readonly Merged[])[] => {
  if (found.length === 0) return []
  const isShort = found.filter(({ doc }) => doc.overflow).length <= LONG_AT_ONCE
  const size = isShort ? found.length : LONG_AT_ONCE
  return Array.from({ length: Math.ceil(found.length / size) }, (_, at) => found.slice(at * size, (at + 1) * size))
}

/**
 * The rows that pass the test of one of their lists, with these lists. Rows whose texts are in their
 * transactions are looked up only if they may pass.
 */
const passing = async (view: View, rows: readonly Merged[], tests: readonly RowTest[]): Promise<readonly Merged[]> => {
  const may = keptOf(rows, tests, mayPass)
  if (!tests.some(asksTexts)) return may
  const passed = new Map<string, Merged>()
  for (const part of inParts(may.filter(({ doc }) => doc.overflow))) {
    const docs = part.map(({ doc }) => doc)
    const texts = await textsOf(each => bodiesOf(view, each), docs)
    const kept = keptOf(part, tests, (test, doc) => passes(test, doc, texts.get(doc.id) ?? doc))
    for (const row of kept) passed.set(row.doc.id, row)
  }
  const short = may.filter(({ doc }) => !doc.overflow)
  for (const row of keptOf(short, tests, (test, doc) => passes(test, doc, doc))) passed.set(row.doc.id, row)
  return may.flatMap(({ doc }) => passed.get(doc.id) ?? [])
}

/** The rows that pass in at least one of their lists, with the lists in which they pass. */
const keptOf = (
  rows: readonly Merged[],
  tests: readonly RowTest[],
  isKept: (test: RowTest, doc: ListedRecord) => boolean,
): readonly Merged[] =>
  rows.flatMap(({ doc, runs }) => {
    const kept = runs.filter(run => tests[run] !== undefined && isKept(tests[run], doc))
    return kept.length === 0 ? [] : [{ doc, runs: kept }]
  })
