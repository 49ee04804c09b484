import { parseUnits } from '#chain/amount.ts'
import { hasFailed } from '#chain/effects.ts'
import { type ListDoc, lists } from '#indices/list.ts'
import type { ListedRecord } from '#indices/record.ts'
import type { View } from '#store/port.ts'
import type { Context } from '../define.ts'
import { getPositionHeight } from '../find/blocks-at.ts'
import { splitRuns } from '../find/listing.ts'
import { refuseBeyondLoaded } from '../find/loading.ts'
import { createMerge, type Merge, type Merged, type Run } from '../find/merge.ts'
import { countRangeRows, type RangeInOrder, requireBlock } from '../find/numbered.ts'
import {
  extractParties,
  extractRowFacts,
  type RowFacts,
  type RowTexts,
  readBodies,
  readRowTexts,
} from '../find/record-texts.ts'
import type { RowRange } from '../request/range.ts'
import { MAX_DECIMALS } from '../request/record-filters.ts'
import type { ListSelection, RowSearch, RowTest } from './searched.ts'

/** Whether a row may pass, judged without its texts. */
function mayPass(test: RowTest, doc: ListedRecord): boolean {
  if (test.isFailed === true && !hasFailed({ receipt: { statusCode: doc.status_code } })) return false
  if (doc.amount === undefined && asksMovement(test)) return false
  return test.counterparty === undefined || hasCounterparty(test.sides, test.counterparty, doc)
}

/** Whether a test has filters that only rows of movements pass. */
const asksMovement = ({ direction, tokens, memo, memoPrefix }: RowTest): boolean =>
  (direction ?? tokens ?? memo ?? memoPrefix) !== undefined

/** Whether a test needs the texts of rows. */
const asksTexts = (test: RowTest): boolean => (test.func ?? test.minAmount) !== undefined || asksMovement(test)

/** Whether a row for which `mayPass` holds passes. @param own its texts */
function passes(test: RowTest, doc: ListedRecord, own: RowTexts): boolean {
  const { func, tokens, memo, memoPrefix, minAmount, direction } = test
  if (func !== undefined && !isMatchingCall(func, own)) return false
  const facts = extractRowFacts(doc, own)
  if (tokens !== undefined && !tokens.has(facts.token ?? '')) return false
  if (memo !== undefined && facts.memo !== memo) return false
  if (memoPrefix !== undefined && facts.memo?.startsWith(memoPrefix) !== true) return false
  if (minAmount !== undefined && !isAtLeast(facts, minAmount)) return false
  if (direction !== undefined) return doc.amount !== undefined && isInDirection(test, direction, own)
  return tokens === undefined || concerns(test, doc, own)
}

const isMatchingCall = ({ contract, action }: NonNullable<RowTest['func']>, own: RowTexts): boolean =>
  own.contract === contract && (action === undefined || own.action_name === action)

const isAtLeast = ({ amount }: RowFacts, least: bigint): boolean =>
  amount !== undefined && (parseUnits(amount, MAX_DECIMALS) ?? -1n) >= least

/** Whether the counterparty is the other party of a row. */
function hasCounterparty(
  sides: ReadonlySet<string>,
  counterparty: string,
  { from, to }: Pick<ListedRecord, 'from' | 'to'>,
): boolean {
  if (from === counterparty) return sides.size === 0 || sides.has(to) || !sides.has(from)
  return to === counterparty && (sides.size === 0 || sides.has(from) || !sides.has(to))
}

/** Whether one of the sides is a party of a movement; a side may also have signed for others. */
function concerns({ sides }: RowTest, { amount }: ListedRecord, own: RowTexts): boolean {
  if (sides.size === 0) return true
  const { from, to } = extractParties(own)
  return amount !== undefined && (sides.has(from) || sides.has(to))
}

/** Whether a movement goes in the direction as seen from the sides. A movement to oneself has no direction. */
function isInDirection({ sides, counterparty }: RowTest, direction: 'in' | 'out', texts: RowTexts): boolean {
  const { from, to } = extractParties(texts)
  if (from === to) return false
  const [own, other] = direction === 'in' ? [to, from] : [from, to]
  return (sides.size === 0 || sides.has(own)) && (counterparty === undefined || other === counterparty)
}

/**
 * A search of lists for rows within a range that pass a test, in the requested order; lists that do not exist
 * have no rows. Throws 'loading' for a range beyond the loaded blocks, 'replaced' when another block has
 * replaced that of `after`.
 */
export async function openSearch(
  context: Pick<Context, 'view' | 'node' | 'head' | 'clock'>,
  later: ListSelection,
  { sort, after, ...range }: RangeInOrder,
): Promise<{ readonly search: RowSearch; readonly size: number; readonly counts: readonly number[] }> {
  const { view } = context
  refuseBeyondLoaded(context, range, 0)
  if (after !== undefined) await requireBlock(context, { height: getPositionHeight(after.position), hash: after.hash })
  const runs = await readRuns(view, later.keys, { ...range, sort, position: after?.position })
  const size = runs.reduce((sum, { first, last }) => sum + Math.max(0, last - first + 1), 0)
  const counts = runs.map(({ list }) => list.count)
  return { search: createMergeSearch(createMerge(runs, sort), listRowTests(later)), size, counts }
}

/** A search of the rows added to lists since they had the given numbers of rows, oldest first. */
export async function openLaterSearch(
  view: View,
  later: ListSelection,
  counts: readonly number[],
): Promise<{ readonly rest: RowSearch; readonly counts: readonly number[] }> {
  const docs = await view.getMany(lists, later.keys)
  const runs = docs.map((list = NO_LIST, at): Run => ({ list, first: (counts[at] ?? 0) + 1, last: list.count }))
  return {
    rest: createMergeSearch(createMerge(runs, 'asc'), listRowTests(later)),
    counts: runs.map(({ last }) => last),
  }
}

type Part = RowRange & { readonly sort: 'asc' | 'desc'; readonly position: string | undefined }

/** The part of each list within a range and after a position. A list without rows there has an empty run. */
async function readRuns(
  view: View,
  keys: readonly string[],
  { sort, position, ...range }: Part,
): Promise<readonly Run[]> {
  const docs = await view.getMany(lists, keys)
  return Promise.all(
    docs.map(async (list): Promise<Run> => {
      if (list === undefined) return NO_RUN
      const { before, total } = await countRangeRows(view, toOrdinalList(list), range)
      const run = { list, first: before + 1, last: before + total }
      if (position === undefined || total === 0) return run
      const upTo = await countPositionRows(view, list, position)
      return sort === 'asc'
        ? { ...run, first: Math.max(run.first, upTo.through + 1) }
        : { ...run, last: Math.min(run.last, upTo.before) }
    }),
  )
}

const NO_LIST: ListDoc = { id: '', number: 0, count: 0, starts: [] }
const NO_RUN: Run = { list: NO_LIST, first: 1, last: 0 }

const toOrdinalList = (list: ListDoc) => ({
  count: list.count,
  moments: (view: View, ordinals: readonly number[]) => view.moments(list, ordinals),
})

/** Number of rows of a list before a position, and up to and including it. */
async function countPositionRows(view: View, list: ListDoc, position: string) {
  const height = BigInt(getPositionHeight(position))
  const { before, total } = await countRangeRows(view, toOrdinalList(list), {
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

const listRowTests = ({ keys, test, owners }: ListSelection): Tests =>
  test && keys.map((_key, at) => (owners === undefined ? test : { ...test, sides: new Set(owners.slice(at, at + 1)) }))

const createMergeSearch = (merge: Merge, tests: Tests): RowSearch => ({
  next: async (view, limit) => {
    const { rows, rest } = await merge.next(view, limit)
    return {
      found: tests === undefined ? rows : await selectPassing(view, rows, tests),
      last: rows.at(-1)?.doc.id,
      tested: rows.length,
      rest: createMergeSearch(rest, tests),
    }
  },
  isOver: merge.isOver,
})

/** Whether the texts of a found row are in its transaction. */
export const isLongFound = ({ doc }: Merged): boolean => doc.overflow

/**
 * The rows that pass the test of one of their lists, with these lists. Rows whose texts are in their
 * transactions are looked up only if they may pass.
 */
async function selectPassing(
  view: View,
  rows: readonly Merged[],
  tests: readonly RowTest[],
): Promise<readonly Merged[]> {
  const may = filterMerged(rows, tests, mayPass)
  if (!tests.some(asksTexts)) return may
  const passed = new Map<string, Merged>()
  for (const part of splitRuns(may.filter(isLongFound), isLongFound)) {
    const docs = part.map(({ doc }) => doc)
    const texts = await readRowTexts(each => readBodies(view, each), docs)
    const kept = filterMerged(part, tests, (test, doc) => passes(test, doc, texts.get(doc.id) ?? doc))
    for (const row of kept) passed.set(row.doc.id, row)
  }
  const short = may.filter(row => !isLongFound(row))
  for (const row of filterMerged(short, tests, (test, doc) => passes(test, doc, doc))) passed.set(row.doc.id, row)
  return may.flatMap(({ doc }) => passed.get(doc.id) ?? [])
}

/** The rows that pass in at least one of their lists, with the lists in which they pass. */
const filterMerged = (
  rows: readonly Merged[],
  tests: readonly RowTest[],
  isKept: (test: RowTest, doc: ListedRecord) => boolean,
): readonly Merged[] =>
  rows.flatMap(({ doc, runs }) => {
    const kept = runs.filter(run => tests[run] !== undefined && isKept(tests[run], doc))
    return kept.length === 0 ? [] : [{ doc, runs: kept }]
  })
