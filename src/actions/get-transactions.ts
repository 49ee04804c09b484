import { Type } from '@sinclair/typebox'
import { defineAction } from './define.ts'
import { findTransactions } from './find/transaction.ts'
import { toNull, unknown } from './find/unknown.ts'
import { transactionHashes } from './request/parameter-types.ts'
import { defineRows, shape } from './shape/results.ts'
import { transactionAnswer, transactionResult } from './shape/transaction-answer.ts'

/** Several transactions by their hashes. */
export const getTransactions = defineAction({
  module: 'transaction',
  action: 'get-transactions',
  title: { en: 'Several transactions', zh: '多笔交易' },
  summary: {
    en: 'Up to 50 transactions by hash. There is one entry for each hash, in the order requested, as get-transaction-detail returns it; a transaction that does not exist gives null. Those that are not in a published block yet are taken from the branch that the service follows, or read from the connected node.',
    zh: '按哈希一次查询最多 50 笔交易。每个哈希一项，按请求的顺序排列，内容与 get-transaction-detail 相同；不存在的交易为 null。尚未进入已发布区块的交易取自服务所跟踪的分支，或从所连接的全节点读取。',
  },
  params: Type.Object({
    tx_hashes: transactionHashes({
      description: {
        en: 'Hashes of transactions, up to 50, joined by commas; a hash may occur more than once.',
        zh: '交易哈希，最多 50 个，以英文逗号分隔；可重复。',
      },
      foreignNames: ['tx_hash'],
    }),
  }),
  result: shape({
    transactions: defineRows(
      Type.Union([transactionResult, Type.Null()]),
      'An entry for each hash, in the order requested; null for a transaction that does not exist.',
      '每个哈希一项，按请求的顺序排列；不存在的交易为 null。',
    ),
  }),
  run: async (context, { tx_hashes }) => {
    const found = await findTransactions({ ...context, waitForNode: context.waitAfterRead }, tx_hashes)
    return {
      transactions: tx_hashes.map(name => {
        const one = found.get(name)
        return one === undefined ? toNull(unknown(context, 'transaction', name)) : transactionAnswer(one)
      }),
    }
  },
  fails: ['loading', 'bad_block'],
  example: {
    tx_hashes: '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp,EtsagS1FGY4f1kEZGu8zoryj8pXKSBazcHujbC4c958e',
  },
})
