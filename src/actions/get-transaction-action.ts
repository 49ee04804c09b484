import { Type } from '@sinclair/typebox'
import { defineAction } from './define.ts'
import { findTransaction } from './find-transaction.ts'
import { wholeOf } from './paging.ts'
import { hash } from './params.ts'
import { listOfRows } from './results.ts'
import { actionRow } from './transaction-rows.ts'

/** The actions of a transaction. */
export const getTransactionAction = defineAction({
  module: 'transaction',
  action: 'get-transaction-action',
  title: { en: 'Actions of a transaction', zh: '交易的方法' },
  summary: {
    en: 'The actions of a transaction in their order. The list is always whole.',
    zh: '交易的方法，按顺序。列表总是完整的。',
  },
  params: Type.Object({ tx_hash: hash('transaction') }),
  result: listOfRows('actions', actionRow, 'The actions.', '方法列表。'),
  list: 'actions',
  run: async (context, { tx_hash }) => {
    const { body } = await findTransaction(context, tx_hash)
    const { actions } = JSON.parse(body) as { readonly actions: readonly Row[] }
    return wholeOf(
      'actions',
      actions.map(({ contract, action_name, data }) => ({ contract, action_name, data })),
    )
  },
  example: { tx_hash: '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp' },
})

type Row = { readonly contract: string; readonly action_name: string; readonly data: string }
