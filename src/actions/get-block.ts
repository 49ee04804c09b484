import { Type } from '@sinclair/typebox'
import { checkAlone } from '#chain/check.ts'
import { decodeBlockAnswer } from '#chain/decode.ts'
import { blocks, listBlockHashes } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import { missingData } from '#store/failures.ts'
import { type Context, defineAction } from './define.ts'
import { blockFromNode, blockOnBranch, type FoundBlock, findBlock, isOffBranch } from './find/block.ts'
import { sharedQuery } from './find/node-answer.ts'
import { buildWholeList } from './list/paging.ts'
import { hash, number } from './request/parameter-types.ts'
import { blockAnswer, blockResult } from './shape/block-answer.ts'
import { listOfRows } from './shape/results.ts'

/** The newest block. */
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
    const { height } = context.view.at
    const doc = await context.view.get(blocks, blockId(height))
    if (doc === undefined) throw missingData(`Block ${height}, the last published one, is not stored.`)
    return blockAnswer({ status: 'IRREVERSIBLE', doc })
  },
  fails: [],
  example: {},
})

/** The head block that the node last reported; undefined: the node no longer has it on its chain. */
const headBlockOf = sharedQuery(async node => {
  const headBlock = node.lastInfo()?.headBlock
  if (headBlock === undefined) return undefined
  const { status, body, release } = await node.get(`/getBlockByNumber/${headBlock}/true`)
  const text = new TextDecoder().decode(body)
  release()
  if (status !== 200) return undefined
  const answer = decodeBlockAnswer(text)
  checkAlone(answer.block, headBlock)
  return answer
})

/**
 * The head block if it is above the stored blocks. Also undefined while no node on the branch of the stored
 * blocks reports one.
 */
async function newerBlock(context: Context): Promise<FoundBlock | undefined> {
  const { branch, node, view } = context
  const tip = branch.height === undefined ? undefined : blockOnBranch(context, { height: branch.height })
  if (tip !== undefined) return tip
  if ((node?.lastInfo()?.headBlock ?? -1) <= view.at.height) return undefined
  const head = await context.waitForNode(() => headBlockOf(context))
  if (head === undefined || head.block.height <= view.at.height) return undefined
  const doc = await blockFromNode(view, head.block)
  return isOffBranch(context, doc) ? undefined : { status: head.status, doc }
}

/** A block by number or hash. */
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

/** The transactions of a block. */
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
