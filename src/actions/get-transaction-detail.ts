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
    en: 'A transaction as a node returns it, but with delay and expiration as numbers. A transaction that is not in a published block yet is read from the connected node: its status is PENDING (in the pool, tx_receipt is {}) or PACKED (in a block that may still be replaced), and block_number is -1 until its block is irreversible. PENDING and PACKED, with the receipt, are as that node reports them.',
    zh: '与全节点返回的交易一致，但 delay 与 expiration 为数字。尚未进入已发布区块的交易从所连接的全节点读取：status 为 PENDING（在交易池中，tx_receipt 为 {}）或 PACKED（在仍可能被替换的区块中），在区块不可逆之前 block_number 为 -1。PENDING 与 PACKED 状态及其收据以该全节点的返回为准。',
  },
  params: Type.Object({ tx_hash: hash('transaction') }),
  result: transactionResult,
  run: async (context, { tx_hash }) => transactionAnswer(await findTransaction(context, tx_hash)),
  fails: ['not_found', 'loading', 'bad_block'],
  example: { tx_hash: '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp' },
})
