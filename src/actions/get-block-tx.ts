import { Type } from '@sinclair/typebox'
import { defineAction } from './define.ts'
import { findBlock } from './find-block.ts'
import { wholeOf } from './paging.ts'
import { hash, number } from './params.ts'
import { listOfRows } from './results.ts'

/** The transactions of a block. */
export const getBlockTx = defineAction({
  module: 'block',
  action: 'get-block-tx',
  title: { en: 'Transactions of a block', zh: '区块交易' },
  summary: {
    en: 'Hashes of all transactions of a block in its order, the base transaction first. The block by number or by hash: one of them, or both where they agree. The list is always whole.',
    zh: '区块内全部交易的哈希，按区块内顺序，base 交易在最前。按高度或哈希指定区块：二者给其一，或都给且一致。列表总是完整的。',
  },
  params: Type.Object({ number: Type.Optional(number()), hash: Type.Optional(hash('block')) }),
  result: listOfRows('transactions', Type.String(), 'The hashes.', '交易哈希列表。'),
  list: 'transactions',
  run: async (context, name) => {
    const { doc } = await findBlock(context, name)
    return wholeOf('transactions', doc.tx_hashes === '' ? [] : doc.tx_hashes.split(' '))
  },
  example: { number: '4851' },
})
