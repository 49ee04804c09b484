import { Type } from '@sinclair/typebox'
import { defineAction } from './define.ts'
import { findTransaction } from './find/transaction.ts'
import { buildWholeList } from './list/paging.ts'
import { hash } from './request/parameter-types.ts'
import { listOfRows } from './shape/results.ts'
import { actionRow } from './shape/transaction-rows.ts'

/** The actions of a transaction. */
export const getTransactionAction = defineAction({
  module: 'transaction',
  action: 'get-transaction-action',
  title: { en: 'Actions of a transaction', zh: '交易中的方法' },
  summary: {
    en: 'The actions of a transaction, in order. The list is always complete.',
    zh: '交易中的方法，按执行顺序排列。始终返回完整列表。',
  },
  params: Type.Object({ tx_hash: hash('transaction') }),
  result: listOfRows('actions', actionRow, { en: 'Actions.', zh: '方法列表。' }),
  list: 'actions',
  run: async (context, { tx_hash }) => {
    const { body } = await findTransaction({ ...context, waitForNode: context.waitAfterRead }, tx_hash)
    const { actions } = JSON.parse(body) as { readonly actions: readonly Row[] }
    return buildWholeList(
      'actions',
      actions.map(({ contract, action_name, data }) => ({ contract, action_name, data })),
    )
  },
  fails: ['not_found', 'loading', 'bad_block'],
  example: { tx_hash: '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp' },
})

type Row = { readonly contract: string; readonly action_name: string; readonly data: string }
