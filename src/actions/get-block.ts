import { Type } from '@sinclair/typebox'
import { checkAlone } from '#chain/check.ts'
import { decodeBlockAnswer } from '#chain/decode.ts'
import { RawJson } from '#chain/json.ts'
import { type BlockDoc, listBlockHashes } from '#indices/block.ts'
import { type Context, defineAction } from './define.ts'
import { type FoundBlock, findBlock, findBranchBlock, isOffBranch, toFoundBlockDoc } from './find/block.ts'
import { readBlock, readBlocks, readOrdinalTimes } from './find/blocks-at.ts'
import type { Numbered, OrdinalList } from './find/listing.ts'
import { refuseBeyondLoaded } from './find/loading.ts'
import { shareQuery } from './find/node-answer.ts'
import { numberedRows, withHead } from './find/numbered.ts'
import { buildWholeList, defineList } from './list/paging.ts'
import { hash, number, paging, sort } from './request/parameter-types.ts'
import { checkHeadRange, headOptions, type RowRange, range } from './request/range.ts'
import { rowIdText } from './request/row-id.ts'
import { count, described, exact, irreversibleSeq, listOfRows, numberedLists, shape, text } from './shape/results.ts'
import { headFields, toGas, toRowStatus, toTime } from './shape/values.ts'

const blockResult = shape({
  block: described(
    shape({
      hash: text('Hash of the block.', '区块哈希。'),
      version: text('Version of the block.', '区块版本。'),
      parent_hash: text('Hash of the parent block; empty for block 0.', '父区块的哈希；区块 0 时为空。'),
      tx_merkle_hash: text('Merkle root of the transactions.', '交易默克尔根。'),
      tx_receipt_merkle_hash: text('Merkle root of the receipts.', '收据默克尔根。'),
      number: count('Block number (height).', '区块高度。'),
      witness: text('Public key that signed the block.', '签名公钥。'),
      time: exact('Time of the block, nanoseconds since 1970.', '区块时间（自 1970 年起的纳秒数）。'),
      gas_usage: exact('Total gas paid by the transactions of the block.', '区块内所有交易支付的 gas 总量。'),
      tx_count: text('Number of transactions, including the base transaction.', '交易数（含 base 交易）。'),
      info: described(
        Type.Object({}, { additionalProperties: true }),
        'The info object of the node; {} if there is none.',
        '全节点返回的 info；没有时为 {}。',
      ),
      orig_info: text('The orig_info value of the node.', '全节点返回的 orig_info。'),
    }),
    'The block.',
    '区块。',
  ),
  status: text(
    'PENDING above the last irreversible block, otherwise IRREVERSIBLE.',
    '高于最新的不可逆区块时为 PENDING，否则为 IRREVERSIBLE。',
  ),
  witness_account: text(
    'Account of the producer that signed the block; the public key if no account has registered it.',
    '签名该区块的生产者账户；没有账户登记该公钥时为公钥本身。',
  ),
})

const blockAnswer = ({ status, doc }: FoundBlock) => ({
  block: {
    hash: doc.hash,
    version: doc.version,
    parent_hash: doc.parent_hash,
    tx_merkle_hash: doc.tx_merkle_hash,
    tx_receipt_merkle_hash: doc.tx_receipt_merkle_hash,
    number: doc.height,
    witness: doc.witness,
    time: toTime(doc.time),
    gas_usage: toGas(doc.gas_usage),
    tx_count: String(doc.tx_count),
    info: new RawJson(doc.info),
    orig_info: doc.orig_info,
  },
  status,
  witness_account: doc.witness_account,
})

const listedBlockFields = {
  seq: irreversibleSeq(),
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
  ...numberedLists('blocks', listedBlockFields, { en: 'Blocks of this page.', zh: '区块列表。' }),
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
        moments: async (reading, ordinals) => {
          const times = await readOrdinalTimes(reading, ordinals)
          return ordinals.map((ordinal, at) => ({ height: ordinal - 1, time: times[at] as bigint }))
        },
        docs: (reading, first, last) =>
          readBlocks(
            reading,
            Array.from({ length: last - first + 1 }, (_, at) => first + at - 1),
          ),
      }
      const rows = withHead(all, head, ({ doc }) => [doc])
      // The original names, for the message of the failure.
      refuseBeyondLoaded(context, asked, rows.count)
      return {
        ...(await numberedRows(context, rows, { ...toSeqRange(asked), sort: order })),
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
function toSeqRange<R extends RowRange>({ start_block = 0n, end_block, start_seq = 0n, end_seq, ...others }: R) {
  const after = start_block + 1n
  const last = end_block === undefined ? undefined : end_block + 1n
  const until = last === undefined || (end_seq !== undefined && end_seq < last) ? end_seq : last
  return {
    ...others,
    start_seq: start_seq > after ? start_seq : after,
    ...(until === undefined ? {} : { end_seq: until }),
  }
}

export const getLatestBlock = defineAction({
  module: 'block',
  action: 'get-latest-block',
  title: { en: 'Latest block', zh: '最新区块' },
  summary: {
    en: 'The head block of the chain, at most two seconds old, if the service is connected to a node; otherwise the last published block.',
    zh: '服务连接全节点时，返回链头区块（最多滞后两秒）；否则返回最新已发布的区块。',
  },
  params: Type.Object({}),
  result: blockResult,
  run: async context => {
    const newer = await newerBlock(context)
    if (newer !== undefined) return blockAnswer(newer)
    const { view } = context
    return blockAnswer({ status: 'IRREVERSIBLE', doc: await readBlock(view, view.at.height) })
  },
  fails: [],
  example: {},
})

/** The head block that the node last reported; undefined: the node no longer has it on its chain. */
const headBlockOf = shareQuery(async node => {
  const headBlock = node.lastInfo()?.headBlock
  if (headBlock === undefined) return undefined
  const { status, body, release } = await node.get(`/getBlockByNumber/${headBlock}/true`)
  const text = new TextDecoder().decode(body)
  release()
  if (status !== 200) return undefined
  const answer = decodeBlockAnswer(text)
  checkAlone(answer.block, { height: headBlock })
  return answer
})

/**
 * The head block if it is above the stored blocks. Also undefined while no node on the branch of the stored
 * blocks reports one.
 */
async function newerBlock(context: Context): Promise<FoundBlock | undefined> {
  const { branch, node, view } = context
  const tip = branch.height === undefined ? undefined : findBranchBlock(context, { height: branch.height })
  if (tip !== undefined) return tip
  if ((node?.lastInfo()?.headBlock ?? -1) <= view.at.height) return undefined
  const head = await context.waitForNode(() => headBlockOf(context))
  if (head === undefined || head.block.height <= view.at.height) return undefined
  const doc = await toFoundBlockDoc(view, head.block)
  return isOffBranch(context, doc) ? undefined : { status: head.status, doc }
}

export const getBlockDetail = defineAction({
  module: 'block',
  action: 'get-block-detail',
  title: { en: 'Block', zh: '区块详情' },
  summary: {
    en: 'A block by number or hash. Give either one, or both if they refer to the same block. Blocks above the last published block are those of the branch that the service follows (head=1 in lists); later ones are read from the connected node.',
    zh: '按高度或哈希查询区块：提供其中一个即可；若同时提供，两者须指向同一区块。高于最新已发布区块的区块取自服务所跟踪的分支（与列表中的 head=1 相同），更新的区块从所连接的全节点读取。',
  },
  params: Type.Object({ number: Type.Optional(number()), hash: Type.Optional(hash('block')) }),
  result: blockResult,
  run: async (context, name) => blockAnswer(await findBlock(context, name)),
  fails: ['not_found', 'loading', 'bad_block'],
  example: { number: '4851' },
})

export const getBlockTx = defineAction({
  module: 'block',
  action: 'get-block-tx',
  title: { en: 'Transactions of a block', zh: '区块交易' },
  summary: {
    en: 'Hashes of all transactions of a block, in block order; the base transaction comes first. Give the block number or hash, or both if they refer to the same block. The list is always complete.',
    zh: '区块内全部交易的哈希，按区块内顺序排列，base 交易在最前。用高度或哈希指定区块：提供其中一个即可；若同时提供，两者须指向同一区块。始终返回完整列表。',
  },
  params: Type.Object({ number: Type.Optional(number()), hash: Type.Optional(hash('block')) }),
  result: listOfRows('transactions', Type.String(), { en: 'Transaction hashes.', zh: '交易哈希列表。' }),
  list: 'transactions',
  run: async (context, name) => {
    const { doc } = await findBlock(context, name)
    return buildWholeList('transactions', listBlockHashes(doc))
  },
  fails: ['not_found', 'loading', 'bad_block'],
  example: { number: '4851' },
})
