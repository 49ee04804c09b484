import { Type } from '@sinclair/typebox'
import { defineAction } from './define.ts'
import { findTransaction } from './find/transaction.ts'
import { hash } from './request/parameter-types.ts'
import { transactionAnswer, transactionResult } from './shape/transaction-answer.ts'

/** A transaction by its hash. */
export const getTransactionDetail = defineAction({
  module: 'transaction',
  action: 'get-transaction-detail',
  title: { en: 'Transaction', zh: '交易详情' },
  summary: {
    en: 'A transaction as a node returns it, but with delay and expiration as numbers. A transaction that is not in a published block yet is PACKED if it is in a block of the branch that the service follows (head=1 in lists), which may still be replaced, and otherwise read from the connected node: PENDING means that it is in the pool (tx_receipt is {}), as that node reports. block_number is -1 until its block is irreversible.',
    zh: '与全节点返回的交易一致，但 delay 与 expiration 为数字。尚未进入已发布区块的交易：若在服务所跟踪分支的区块中（与列表中的 head=1 相同，仍可能被替换），status 为 PACKED；否则从所连接的全节点读取，PENDING 表示该全节点称其在交易池中（tx_receipt 为 {}）。在区块不可逆之前 block_number 为 -1。',
  },
  params: Type.Object({ tx_hash: hash('transaction') }),
  result: transactionResult,
  run: async (context, { tx_hash }) =>
    transactionAnswer(await findTransaction({ ...context, waitForNode: context.waitAfterRead }, tx_hash)),
  fails: ['not_found', 'loading', 'bad_block'],
  example: { tx_hash: '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp' },
})
