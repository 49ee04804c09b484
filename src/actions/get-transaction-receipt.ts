import { Type } from '@sinclair/typebox'
import { defineAction } from './define.ts'
import { findTransaction } from './find/transaction.ts'
import { buildWholeList } from './list/paging.ts'
import { hash } from './request/parameter-types.ts'
import { listOfRows } from './shape/results.ts'
import { receiptRow } from './shape/transaction-rows.ts'

/** The receipts of a transaction. */
export const getTransactionReceipt = defineAction({
  module: 'transaction',
  action: 'get-transaction-receipt',
  title: { en: 'Receipts of a transaction', zh: '交易的收据' },
  summary: {
    en: 'The receipts of a transaction, in order. The list is empty while the transaction is in the pool, and if it failed. The list is always complete.',
    zh: '交易的收据，按顺序排列；交易在交易池中或执行失败时列表为空。始终返回完整列表。',
  },
  params: Type.Object({ tx_hash: hash('transaction') }),
  result: listOfRows('receipts', receiptRow, { en: 'Receipts.', zh: '收据列表。' }),
  list: 'receipts',
  run: async (context, { tx_hash }) => {
    const { body } = await findTransaction({ ...context, waitForNode: context.waitAfterRead }, tx_hash)
    const { tx_receipt } = JSON.parse(body) as { readonly tx_receipt: Receipts | null }
    const rows = (tx_receipt?.receipts ?? []).map(({ func_name, content }) => ({ func_name, content }))
    return buildWholeList('receipts', rows)
  },
  fails: ['not_found', 'loading', 'bad_block'],
  example: { tx_hash: '4aSfS9vs1bsvVAybT1Ehcp9LWL9EjMFSHRKs2cWS1wHx' },
})

type Receipts = { readonly receipts: readonly { readonly func_name: string; readonly content: string }[] }
