import { type TProperties, Type } from '@sinclair/typebox'
import { type BlockDoc, blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import { missingData } from '#store/failures.ts'
import type { View } from '#store/port.ts'
import type { Numbered, OrdinalList } from './find/listing.ts'
import { refuseBeyondLoaded } from './find/loading.ts'
import { numberedRows, withHead } from './find/numbered.ts'
import { defineList } from './list/paging.ts'
import { paging, sort } from './request/parameter-types.ts'
import { checkHeadRange, headOptions, type RowRange, range } from './request/range.ts'
import { rowIdText } from './request/row-id.ts'
import { count, exact, irreversibleSeq, listOfRows, shape, text } from './shape/results.ts'
import { headFields, toGas, toRowStatus, toTime } from './shape/values.ts'

const listedBlockFields = {
  ...headFields(),
  number: count('Block number (height).', '区块高度。'),
  hash: text('Hash of the block.', '区块哈希。'),
  time: exact('Time of the block, nanoseconds since 1970.', '区块时间（自 1970 年起的纳秒数）。'),
  witness: text('Public key that signed the block.', '签名公钥。'),
  witness_account: text(
    'Account of the producer that signed the block; the public key if no account has registered it.',
    '签名该区块的生产者账户；没有账户登记该公钥时为公钥本身。',
  ),
  tx_count: count('Number of transactions, including the base transaction.', '交易数（含 base 交易）。'),
  gas_usage: exact('Total gas paid by the transactions of the block.', '区块内所有交易支付的 gas 总量。'),
}
const defineListResult = <P extends TProperties>(row: P) =>
  listOfRows('blocks', shape(row), { en: 'Blocks of this page.', zh: '区块列表。' })

/** The blocks of the chain: the row of block n is the one with number n + 1. */
export const getBlockList = defineList({
  module: 'base',
  action: 'get-block-list',
  title: { en: 'Blocks', zh: '区块列表' },
  summary: {
    en: 'All irreversible blocks, newest first; sort=asc returns the exact reverse. The seq of a block is its number plus 1, because the list begins with block 0.',
    zh: '全部不可逆区块，最新的在前；sort=asc 时顺序完全相反。列表从区块 0 开始，因此区块的 seq 为其高度加 1。',
  },
  params: Type.Object({ ...paging, sort: sort(), ...range, ...headOptions }),
  check: checkHeadRange,
  result: defineListResult({ seq: irreversibleSeq(), ...listedBlockFields }),
  compatResult: defineListResult(listedBlockFields),
  list: 'blocks',
  source: {
    state: [],
    isFeed: true,
    open: async (context, { sort: order, head: _, ...asked }) => {
      const { view, head, compat } = context
      const all: OrdinalList<BlockDoc> = {
        count: view.at.height + 1,
        followed: { kind: 'blocks' },
        idOf: ({ id }) => id,
        moments: readNumberedBlocks,
        docs: (reading, first, last) =>
          readNumberedBlocks(
            reading,
            Array.from({ length: last - first + 1 }, (_, at) => first + at),
          ),
      }
      const rows = withHead(all, head, ({ doc }) => [doc])
      // The original names, for the message of the failure.
      refuseBeyondLoaded(context, asked, rows.count)
      return {
        ...(await numberedRows(context, rows, { ...bySeq(asked), sort: order })),
        rows: async (_view, docs: readonly Numbered<BlockDoc>[]) => ({
          rows: docs.map(({ seq, above, doc }) => ({
            ...(compat === 'iostabc' || above !== undefined ? {} : { seq }),
            ...(head === undefined
              ? {}
              : { id: rowIdText({ position: doc.id, hash: doc.hash }), status: toRowStatus(above) }),
            number: doc.height,
            hash: doc.hash,
            time: toTime(doc.time),
            witness: doc.witness,
            witness_account: doc.witness_account,
            tx_count: doc.tx_count,
            gas_usage: toGas(doc.gas_usage),
          })),
        }),
      }
    },
  },
  isOfStore: true,
  fails: ['loading', 'replaced'],
  example: { page: '1', size: '10' },
})

/** The same range with its heights converted to row numbers, which need no search. */
function bySeq<R extends RowRange>({ start_block = 0n, end_block, start_seq = 0n, end_seq, ...others }: R) {
  const after = start_block + 1n
  const last = end_block === undefined ? undefined : end_block + 1n
  const until = last === undefined || (end_seq !== undefined && end_seq < last) ? end_seq : last
  return {
    ...others,
    start_seq: start_seq > after ? start_seq : after,
    ...(until === undefined ? {} : { end_seq: until }),
  }
}

/** The blocks with these numbers in the list. Throws 'damaged' if one is missing. */
async function readNumberedBlocks(view: View, seqs: readonly number[]) {
  const ids = seqs.map(seq => blockId(seq - 1))
  const docs = await view.getMany(blocks, ids)
  return docs.map((doc, at) => {
    if (doc === undefined) throw missingData(`Block ${(seqs[at] ?? 0) - 1} of ${view.at.height} is not stored.`)
    return doc
  })
}
