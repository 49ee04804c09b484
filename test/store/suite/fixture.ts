import { type BalanceDoc, balanceId, balances } from '#indices/balance.ts'
import { type BlockDoc, blocks } from '#indices/block.ts'
import type { DocOf, Field } from '#indices/define.ts'
import { blockId, type ListDoc, lists, recordId, toPlace, transactionId } from '#indices/list.ts'
import { type ProducerDoc, producers } from '#indices/producer.ts'
import type { RecordDoc } from '#indices/record.ts'
import { type AnyIndex, DERIVATION, type StateChange, stateIndices } from '#indices/registry.ts'
import { STATISTICS, type StatisticsDoc, statistics } from '#indices/statistics.ts'
import { type TokenDoc, tokens } from '#indices/token.ts'
import type { TransactionDoc } from '#indices/transaction.ts'
import { wealth } from '#indices/wealth.ts'
import type { Batch, Identity, Published, View } from '#store/port.ts'
import { turn } from '#test/support/wait.ts'

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

const statisticsDoc = (over: Partial<StatisticsDoc> = {}) => createDoc(statistics, STATISTICS, over)
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

/** All that telling batches show of the height of a view, read piece by piece with other reads in between. */
export async function readTelling(view: View) {
  const { height } = view.at
  const counted = await view.get(statistics, STATISTICS)
  await turn()
  const ranking = await view.page(wealth, 'richest', { offset: 0, limit: 5 })
  const owner = await view.get(wealth, 'b')
  await turn()
  const list = await view.get(lists, listAt(0).id)
  const rows = list === undefined ? [] : await view.records(list, 1, list.count)
  const [last, next] = await view.getMany(blocks, [blockId(height), blockId(height + 1)])
  await turn()
  const above = await view.find(blocks, 'hash8', hash8Of(height + 1))
  return {
    at: view.at,
    heights: [counted?.transaction_count, owner?.total, ranking.map(({ total }) => total), last?.height],
    rows: rows.map(row => row.height),
    above: [next, ...above],
  }
}
export const tellingAt = (height: number) => ({
  at: publishedAt(height),
  heights: [height, totalAt(height), [totalAt(height), totalAt(height)], height],
  rows: Array.from({ length: height + 1 }, (_, at) => at),
  above: [undefined],
})

export const balanceDoc = (token: string, owner: string, over: Partial<BalanceDoc> = {}) =>
  createDoc(balances, balanceId(token, owner), { token, owner, ...over })
export const tokenDoc = (symbol: string, over: Partial<TokenDoc> = {}) =>
  createDoc(tokens, symbol, { symbol, full_name: symbol, ...over })
export const producerDoc = (account: string, over: Partial<ProducerDoc> = {}) =>
  createDoc(producers, account, { account, registered: true, ...over })

/** The greatest or the least value of a field. */
function createValue({ kind }: Field, isGreatest: boolean): unknown {
  switch (kind) {
    case 'bool':
      return isGreatest
    case 'int':
      return isGreatest ? Number.MAX_SAFE_INTEGER : 0
    case 'long':
      return isGreatest ? MAX : MIN
    case 'json':
      return isGreatest ? [['9223372036854775807', -1, '', '%2C'], { name: '__proto__', of: [], is: true }] : []
    default:
      return isGreatest ? '__proto__' : ',,0,-5;3,2,f1,7,1800000000000000001;'
  }
}

/** Two documents of every state index: with the greatest values and all optional fields, and with the least and none. */
export const samples: readonly StateChange[] = stateIndices.flatMap(index =>
  [true, false].map(isGreatest => {
    const id = `sample/${isGreatest}`
    const fields = Object.entries<Field>(index.fields)
      .filter(([, { optional }]) => isGreatest || !optional)
      .map(([name, field]) => [name, name === index.named ? id : createValue(field, isGreatest)] as const)
    return { index, doc: { id, ...Object.fromEntries(fields) } } as unknown as StateChange
  }),
)

/** Texts that some stores changed: control characters, NUL, line separators, right-to-left text, long texts. */
export const oddTexts: readonly string[] = [
  '',
  ' ',
  'a\u0000b\u0000',
  '\u0001\u001f\u007f\u0085',
  'line\r\nline\u2028\u2029',
  '😀👩‍👩‍👧‍👦 日本語 ßſK',
  '\u202eright to left \u05d0\u05d1',
  '\ufeffmark \ufffd \uffff',
  '"\\u0000\\ud800\' ; DROP TABLE tokens; --',
  '{"a":1}',
  '1e400',
  '[9007199254740993]',
  'é e\u0301',
  'x'.repeat(60_000),
  '€😀'.repeat(9_000),
]

/** Names that exist on the chain, and names that are dangerous where ids become keys, paths or patterns. */
export const oddIds: readonly string[] = [
  ...['__proto__', 'constructor', 'toString', '12345', '0', '-1', '_id'],
  ...['a/b', 'a b%2F?&#', '../x', 'A', 'a', 'ü', 'x'.repeat(200)],
]
