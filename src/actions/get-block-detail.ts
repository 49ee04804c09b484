import { Type } from '@sinclair/typebox'
import { defineAction } from './define.ts'
import { findBlock } from './find/block.ts'
import { hash, number } from './request/parameter-types.ts'
import { blockAnswer, blockResult } from './shape/block-answer.ts'

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
