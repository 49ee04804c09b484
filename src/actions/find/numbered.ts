import { highestPossible } from '#chain/time.ts'
import { Failure } from '#failure/failure.ts'
import { type HeadAt, type HeadBlock, selectListRows } from '#head/head-state.ts'
import { lists, transactionId } from '#indices/list.ts'
import type { ListedRecord } from '#indices/record.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import {
  listStretches,
  RUN_LENGTH,
  runId,
  type Stretch,
  type TransactionDoc,
  transactionRuns,
  transactions,
} from '#indices/transaction.ts'
import { missingData } from '#store/failures.ts'
import type { Moment, View } from '#store/port.ts'
import type { Context } from '../define.ts'
import type { RowRange } from '../request/range.ts'
import { badRequest } from '../request/refusals.ts'
import type { RowId } from '../request/row-id.ts'
import { blockHashes, getPositionHeight, readBlockTimes } from './blocks-at.ts'
import type { Listing, Numbered, OrdinalList } from './listing.ts'
import { refuseBeyondLoaded } from './loading.ts'
import { countPassing } from './ordinal-search.ts'
import { type Bodies, readBodies } from './record-texts.ts'

/** A row of a head block, with the height and time of the block. */
type Above<D> = { readonly doc: D; readonly made: Moment; readonly block: HeadBlock }

/**
 * A list followed by the rows of the head blocks. Their numbers continue those of the list, as they will once they are
 * irreversible, so ranges and pages work over both parts like over one list. The numbers are not shown.
 */
export function withHead<D>(
  list: OrdinalList<D>,
  head: HeadAt | undefined,
  rowsOf: (block: HeadBlock) => readonly D[],
): OrdinalList<D> {
  const tip = head?.blocks.at(-1)?.doc
  if (head === undefined || tip === undefined) return list
  const above: Above<D>[] = []
  for (const block of head.blocks) {
    const { height, time } = block.doc
    for (const doc of rowsOf(block)) above.push({ doc, made: { height, time }, block })
  }
  const { count } = list
  const behind = (ordinal: number): Above<D> => {
    const row = above[ordinal - count - 1]
    if (row === undefined) throw new TypeError(`There is no row ${ordinal} of ${count + above.length}.`)
    return row
  }
  return {
    followed: list.followed,
    idOf: list.idOf,
    count: count + above.length,
    above: { stored: count, blockOf: ordinal => behind(ordinal).block },
    end: { height: tip.height, time: tip.time },
    moments: async (view, ordinals) => {
      const stored = ordinals.filter(ordinal => ordinal <= count)
      const others = ordinals.slice(stored.length).map(ordinal => behind(ordinal).made)
      return stored.length === 0 ? others : [...(await list.moments(view, stored)), ...others]
    },
    docs: async (view, first, last) => {
      const stored = first > count ? [] : await list.docs(view, first, Math.min(last, count))
      return [
        ...stored,
        ...above.slice(Math.max(0, first - count - 1), Math.max(0, last - count)).map(({ doc }) => doc),
      ]
    },
  }
}

export const headRecords = (list: string, block: HeadBlock): readonly ListedRecord[] =>
  selectListRows(block, list).map(({ doc }) => doc)

export const isListedAtHead = (head: HeadAt | undefined, list: string): boolean =>
  head?.blocks.some(block => selectListRows(block, list).length > 0) ?? false

/** The node's transaction objects of some rows, stored or in head blocks (`readBodies`). */
export const createBodyReader =
  (view: View, rows: readonly Numbered<ListedRecord>[]): Bodies =>
  async docs => {
    const blocks = new Map(rows.flatMap(({ above, doc }) => (above === undefined ? [] : [[doc.id, above]])))
    const stored = docs.filter(({ id }) => !blocks.has(id))
    const bodies = new Map(stored.length === 0 ? [] : await readBodies(view, stored))
    for (const { id, height, tx } of docs) {
      const body = blocks.get(id)?.bodies[tx]
      if (body !== undefined) bodies.set(transactionId(height, tx), body)
    }
    return bodies
  }

export type NumberedRecord = Numbered<ListedRecord>

/** The rows of a list of records within a range, with those of head blocks if requested; none if there is no list. */
export async function listRecords(
  context: Pick<Context, 'view' | 'node' | 'head' | 'clock'>,
  list: string,
  range: RangeInOrder,
): ReturnType<typeof numberedRows<ListedRecord>> {
  const found = await context.view.get(lists, list)
  const followed = { kind: 'records', key: list, number: found?.number } as const
  const rows: OrdinalList<ListedRecord> = {
    followed,
    idOf: ({ id }) => id,
    count: found?.count ?? 0,
    moments: async (view, ordinals) => (found === undefined ? [] : view.moments(found, ordinals)),
    docs: async (view, first, last) => (found === undefined ? [] : view.records(found, first, last)),
  }
  const { head } = context
  const all = head === undefined ? rows : withHead(rows, head, block => headRecords(list, block))
  return numberedRows(context, all, range)
}

/** A range of a list in a given order; `after`: starting after a row in that order. */
export type RangeInOrder = RowRange & { readonly sort: 'asc' | 'desc'; readonly after?: RowId | undefined }

/**
 * The rows of a list within a range, in the requested order. They are the rows at the height of the context,
 * even if they are read at a later one. Throws 'loading' for a range beyond the loaded blocks or rows.
 */
export async function numberedRows<D>(
  context: Pick<Context, 'view' | 'node' | 'head' | 'clock'>,
  list: OrdinalList<D>,
  { sort, after, ...given }: RangeInOrder,
): Promise<Pick<Listing<Numbered<D>>, 'total' | 'stored' | 'docs' | 'followed' | 'idOf'>> {
  const { view } = context
  const { count, above } = list
  const stored = above?.stored ?? count
  refuseBeyondLoaded(context, given, count)
  const range = after === undefined ? given : narrowToRest(given, sort, await requireOrdinal(context, list, after))
  const { before, total } = await countRangeRows(view, list, range)
  return {
    total,
    stored,
    followed: list.followed,
    idOf: ({ doc }) => list.idOf(doc),
    docs: async (later, offset, limit) => {
      const first = before + 1 + (sort === 'asc' ? offset : total - offset - limit)
      const docs = await list.docs(later, first, first + limit - 1)
      const rows = docs.map((doc, at): Numbered<D> => {
        const seq = first + at
        return above === undefined || seq <= stored ? { seq, doc } : { seq, doc, above: above.blockOf(seq) }
      })
      return sort === 'asc' ? rows : rows.toReversed()
    },
  }
}

/** The part of a range after a row, in the given order. */
function narrowToRest(range: RowRange, sort: 'asc' | 'desc', ordinal: number): RowRange {
  const { start_seq = 0n, end_seq } = range
  if (sort === 'asc') return { ...range, start_seq: max(start_seq, BigInt(ordinal + 1)) }
  const last = BigInt(ordinal - 1)
  return { ...range, end_seq: end_seq === undefined || end_seq > last ? last : end_seq }
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)

export const ORIGIN: Moment = { height: 0, time: 0n }

/** Number of rows before a range, and within it. Ends of the chain and row numbers need no request. */
export async function countRangeRows<D>(
  view: View,
  { count, end = view.at, moments }: Pick<OrdinalList<D>, 'count' | 'end' | 'moments'>,
  { start_block, end_block, start_seq = 0n, end_seq, ...times }: RowRange,
): Promise<{ readonly before: number; readonly total: number }> {
  const last = end_seq === undefined || end_seq > count ? count : Number(end_seq)
  if (start_seq > last) return { before: 0, total: 0 }
  const { start_time, end_time, start_date, end_date } = times
  // Of a time and a day, the stricter one.
  const from = start_time === undefined || (start_date ?? start_time) > start_time ? start_date : start_time
  const to = end_time === undefined || (end_date ?? end_time) < end_time ? end_date : end_time
  let [early, until] = [0, count]
  if ((start_block ?? end_block ?? from ?? to) !== undefined) {
    const isBefore = ({ height, time }: Moment): boolean =>
      (start_block !== undefined && height < start_block) || (from !== undefined && time < from)
    const isUntil = ({ height, time }: Moment): boolean =>
      (end_block === undefined || height <= end_block) && (to === undefined || time <= to)
    // Covers mixed bounds, too: a start after the last block together with an end at an earlier time.
    if (isBefore(end) || !isUntil(ORIGIN)) return { before: 0, total: 0 }
    const look = (ordinals: readonly number[]) => moments(view, ordinals)
    const rows = { count, floor: ORIGIN, ceiling: end, look }
    ;[early = 0, until = 0] = await countPassing<Moment>(rows, [isBefore, isUntil])
  }
  const before = Math.max(early, Number(start_seq) - 1)
  // Ranges of different kinds that do not overlap put the end before the start.
  return { before, total: Math.max(Math.min(until, last) - before, 0) }
}

type ListContext = Pick<Context, 'view' | 'head' | 'clock'>

/**
 * The number of the last row that a caller has. Throws 'replaced' when its block is no longer on the branch,
 * 'unavailable' while that is unknown, 'bad_request' when the list has no such row.
 */
async function requireOrdinal<D>(
  context: ListContext,
  list: OrdinalList<D>,
  { position, hash }: RowId,
): Promise<number> {
  const { view } = context
  const height = getPositionHeight(position)
  await requireBlock(context, { height, hash })
  const range: RowRange = { start_block: BigInt(height), end_block: BigInt(height) }
  const { before, total } = await countRangeRows(view, list, range)
  const docs = total === 0 ? [] : await list.docs(view, before + 1, before + total)
  const at = docs.findIndex(doc => list.idOf(doc) === position)
  if (at >= 0) return before + 1 + at
  throw badRequest(
    {
      en: `Parameter 'after' names a row of block ${height} that this list does not have; it must be the id of a row of the same list.`,
      zh: `参数 'after' 所指的区块 ${height} 中的记录不在此列表中；应为同一列表中某条记录的 id。`,
    },
    { parameter: 'after' },
  )
}

/** Throws unless the block of a row is published or on the branch ('replaced', 'unavailable', 'bad_request'). */
export async function requireBlock(
  { view, head, clock }: ListContext,
  { height, hash }: { readonly height: number; readonly hash: string },
): Promise<void> {
  const { at } = view
  if (height <= at.height) {
    if ((await blockHashes(view, [height])).get(height) !== hash) throw replaced(height)
    return
  }
  if (height > highestPossible(at, clock.now()))
    throw badRequest(
      {
        en: `Parameter 'after' names a row of block ${height}, but the last block that this service knows is ${at.height}; it must be the id of a row of the same list.`,
        zh: `参数 'after' 所指的记录位于区块 ${height}，而本服务已知的最新区块为 ${at.height}；应为同一列表中某条记录的 id。`,
      },
      { parameter: 'after' },
    )
  // Also a service without a node may have returned a row of such a block: before a repair took it back, or with
  // another instance that read the store later.
  if (head?.height === undefined || head.height < height)
    throw new Failure('unavailable', `Block ${height} is not known at the moment.`)
  if (head.blocks[height - at.height - 1]?.doc.hash !== hash) throw replaced(height)
}

const replaced = (height: number): Failure =>
  new Failure(
    'replaced',
    `Block ${height}, which has the row that 'after' names, was replaced by another one. Discard the rows of this block and of those above it; then continue with the id of a row that is left, or from the first page.`,
    {
      zh: `参数 'after' 所指记录所在的区块 ${height} 已被其他区块取代。请丢弃该区块及其之上各区块的记录，再以剩余某条记录的 id 继续，或从第一页重新开始。`,
      details: { parameter: 'after', height },
    },
  )

type TimedTransaction = { readonly doc: TransactionDoc; readonly time: bigint }
export type NumberedTransaction = Numbered<TimedTransaction>

/** Transactions of the chain within a range without base ones, with those of head blocks if requested. */
export async function listTransactions(
  context: Pick<Context, 'view' | 'node' | 'head' | 'clock'>,
  range: RangeInOrder,
): ReturnType<typeof numberedRows<TimedTransaction>> {
  const count = (await context.view.get(statistics, STATISTICS))?.transaction_count ?? 0
  const list = {
    count,
    moments: readTransactionMoments,
    docs: readTransactions,
    followed: { kind: 'transactions' } as const,
    idOf: ({ doc }: TimedTransaction) => doc.id,
  }
  return numberedRows(context, withHead<TimedTransaction>(list, context.head, headTransactions), range)
}

export const headTransactions = ({ doc: { time }, transactions: all }: HeadBlock): readonly TimedTransaction[] =>
  all.map(doc => ({ doc, time }))

async function readTransactionMoments(view: View, numbers: readonly number[]): Promise<readonly Moment[]> {
  const positions = await readPositions(view, numbers)
  const times = await readBlockTimes(view, listHeights(positions))
  return positions.map(({ height }) => ({ height, time: times.get(height) as bigint }))
}

/** Transactions with the numbers `first` … `last`, in order. */
export async function readTransactions(view: View, first: number, last: number): Promise<readonly TimedTransaction[]> {
  const numbers = Array.from({ length: last - first + 1 }, (_, at) => first + at)
  const positions = await readPositions(view, numbers)
  const ids = positions.map(({ height, tx }) => transactionId(height, tx))
  const [docs, times] = await Promise.all([
    view.getMany(transactions, ids),
    readBlockTimes(view, listHeights(positions)),
  ])
  return ids.map((id, at) => {
    const doc = docs[at]
    if (doc === undefined) throw missingData(`Transaction '${id}', number ${first + at} of all, has no document.`)
    return { doc, time: times.get(doc.height) as bigint }
  })
}

type Position = { readonly height: number; readonly tx: number }

const listHeights = (positions: readonly Position[]): readonly number[] => positions.map(({ height }) => height)

async function readPositions(view: View, numbers: readonly number[]): Promise<readonly Position[]> {
  const runOf = (number: number): number => Math.floor((number - 1) / RUN_LENGTH)
  const runs = [...new Set(numbers.map(runOf))]
  const docs = await view.getMany(transactionRuns, runs.map(runId))
  const stretches = new Map(runs.map((run, at) => [run, listStretches(docs[at] ?? { blocks: [] })]))
  return numbers.map(number => {
    const position = findStretchPosition(stretches.get(runOf(number)) ?? [], (number - 1) % RUN_LENGTH)
    if (position === undefined) throw missingData(`Run ${runOf(number)} of transactions lacks number ${number} of all.`)
    return position
  })
}

function findStretchPosition(stretches: readonly Stretch[], offset: number): Position | undefined {
  let skip = offset
  for (const { height, first, count } of stretches) {
    if (skip < count) return { height, tx: first + skip }
    skip -= count
  }
  return undefined
}
