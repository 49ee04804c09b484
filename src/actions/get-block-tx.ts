import { Type } from '@sinclair/typebox'
import { listBlockHashes } from '#indices/block.ts'
import { defineAction } from './define.ts'
import { findBlock } from './find/block.ts'
import { buildWholeList } from './list/paging.ts'
import { hash, number } from './request/parameter-types.ts'
import { listOfRows } from './shape/results.ts'

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
