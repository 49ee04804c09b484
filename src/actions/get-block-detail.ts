import { Type } from '@sinclair/typebox'
import { blockAnswer, blockResult } from './block-answer.ts'
import { defineAction } from './define.ts'
import { findBlock } from './find-block.ts'
import { hash, number } from './params.ts'

/** A block by number or hash. */
export const getBlockDetail = defineAction({
  module: 'block',
  action: 'get-block-detail',
  title: { en: 'Block', zh: '区块详情' },
  summary: {
    en: 'A block by number or by hash: one of them, or both where they agree. Blocks above the last published one are answered by the followed node.',
    zh: '按高度或哈希查询区块：二者给其一，或都给且一致。高于最后发布区块的区块由所跟随的节点回答。',
  },
  params: Type.Object({ number: Type.Optional(number()), hash: Type.Optional(hash('block')) }),
  result: blockResult,
  run: async (context, name) => blockAnswer(await findBlock(context, name)),
  example: { number: '4851' },
})
