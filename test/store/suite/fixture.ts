import { type BlockDoc, blocks } from '#indices/block.ts'
import type { DocOf, Field } from '#indices/define.ts'
import { blockId, type ListDoc, lists, recordId, toPlace, transactionId } from '#indices/list.ts'
import type { RecordDoc } from '#indices/record.ts'
import { type AnyIndex, DERIVATION, type StateChange } from '#indices/registry.ts'
import { STATISTICS, type StatisticsDoc, statistics } from '#indices/statistics.ts'
import type { TransactionDoc } from '#indices/transaction.ts'
import { wealth } from '#indices/wealth.ts'
import type { Batch, Identity, Published } from '#store/port.ts'

/** Documents of an invented chain for the conformance suite: valid in form, without meaning. */
export const identity: Identity = { chainId: 1020, genesis: 'genesis-hash', derivation: DERIVATION }

/** The extremes of int64. */
export const MIN = -(2n ** 63n)
export const MAX = 2n ** 63n - 1n

/** 2026-01-01 in nanoseconds. A block every half second. */
const BEGIN = 1_767_225_600_000_000_000n
export const timeOf = (height: number): bigint => BEGIN + BigInt(height) * 500_000_000n

export const hash8Of = (height: number): bigint => BigInt(height) * 7_919_000_000_001n - MAX

/** The value of a field that says nothing. */
function createEmpty({ kind }: Field): unknown {
  if (kind === 'bool') return false
  if (kind === 'int') return 0
  if (kind === 'long' || kind === 'hash8') return 0n
  return kind === 'json' || kind === 'places' ? [] : ''
}

/** A document with empty values in the fields that it must have, except some. */
export function createDoc<I extends AnyIndex>(index: I, id: string, over: Partial<DocOf<I>> = {}): DocOf<I> {
  const fields = Object.entries<Field>(index.fields)
    .filter(([, { optional }]) => !optional)
    .map(([name, field]) => [name, createEmpty(field)])
  return { id, ...Object.fromEntries(fields), ...over }
}

export const blockDoc = (height: number, over: Partial<BlockDoc> = {}) =>
  createDoc(blocks, blockId(height), {
    height,
    hash: `hash-${height}`,
    hash8: hash8Of(height),
    parent_hash: height === 0 ? '' : `hash-${height - 1}`,
    witness: 'key',
    time: timeOf(height),
    tx_count: 1,
    tx_hashes: `base-${height}`,
    ...over,
  })

export const transactionDoc = (height: number, tx: number, over: Partial<TransactionDoc> = {}): TransactionDoc => ({
  id: transactionId(height, tx),
  height,
  tx,
  hash: `tx-${height}-${tx}`,
  hash8: BigInt(height * 1000 + tx),
  body: `{"hash":"tx-${height}-${tx}"}`,
  ...over,
})

/** A row of a block. `index` distinguishes the rows of transaction 1. */
export const recordDoc = (height: number, index: number, over: Partial<RecordDoc> = {}): RecordDoc => ({
  id: recordId(height, 1, index),
  height,
  tx: 1,
  index,
  tx_hash: `tx-${height}-1`,
  time: timeOf(height),
  contract: 'token.iost',
  action_name: 'transfer',
  data: `["iost","alice","bob","${height}.${index}",""]`,
  return: '[]',
  status_code: 'SUCCESS',
  from: 'alice',
  to: 'bob',
  overflow: false,
  places: [],
  ...over,
})

export const statisticsDoc = (over: Partial<StatisticsDoc> = {}) => createDoc(statistics, STATISTICS, over)
export const wealthDoc = (owner: string, total: bigint) => createDoc(wealth, owner, { owner, total, token: total })

export const publishedAt = (height: number): Published => ({
  height,
  hash: `hash-${height}`,
  time: timeOf(height),
  lib: height + 5,
})

/** A batch of blocks `first` … `last`. Blocks are generated unless given. */
export const batchOf = (
  first: number,
  last: number,
  content: Partial<Pick<Batch, 'blocks' | 'transactions' | 'records' | 'changes' | 'filling'>> = {},
): Batch => ({
  first,
  end: publishedAt(last),
  blocks: Array.from({ length: last - first + 1 }, (_, at) => blockDoc(first + at)),
  transactions: [],
  records: [],
  filling: { partition: 0, documents: 0 },
  changes: [],
  ...content,
})

/** The batch with a last irreversible block of the node `above` blocks above the batch's end. */
export const seenFrom = (batch: Batch, above: number): Batch => ({
  ...batch,
  end: { ...batch.end, lib: batch.end.height + above },
})

/** List 1 after every block up to `height` has added one row to it. */
export const listAt = (height: number): ListDoc => ({
  id: 'account/alice',
  number: 1,
  count: height + 1,
  starts: [[0, 1]],
})

/**
 * A batch in which every document shows the batch's end: statistics count its height, `a` and `b` own one
 * more, and list 1 has a row for each block. A view that mixes two heights cannot look right.
 */
export function tellingBatch(first: number, last: number): Batch {
  const heights = Array.from({ length: last - first + 1 }, (_, at) => first + at)
  const before = first === 0 ? [] : tellingState(first - 1)
  const changes = tellingState(last).map((change, at) =>
    before[at] === undefined ? change : ({ ...change, before: before[at].doc } as StateChange),
  )
  return batchOf(first, last, {
    transactions: heights.map(height => transactionDoc(height, 1)),
    records: heights.map(height => recordDoc(height, 0, { places: [toPlace(1, height + 1)] })),
    changes,
  })
}

/** Above zero, so that the owner is ranked. */
export const totalAt = (height: number): bigint => BigInt(height) + 1n

const tellingState = (height: number): readonly StateChange[] => [
  { index: statistics, doc: statisticsDoc({ transaction_count: height }) },
  { index: wealth, doc: wealthDoc('a', totalAt(height)) },
  { index: wealth, doc: wealthDoc('b', totalAt(height)) },
  { index: lists, doc: listAt(height) },
]
