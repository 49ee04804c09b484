import { Type } from '@sinclair/typebox'
import { checkAlone } from '#chain/check.ts'
import { decodeBlockAnswer } from '#chain/decode.ts'
import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import { missingData } from '#store/missing-data.ts'
import { type Context, defineAction } from './define.ts'
import { blockOnBranch, isOffBranch } from './find/branch.ts'
import { sharedQuery } from './find/head.ts'
import { blockAnswer, blockFromNode, blockResult, type FoundBlock } from './shape/block-answer.ts'

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
