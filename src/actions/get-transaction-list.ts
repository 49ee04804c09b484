import { type TProperties, Type } from '@sinclair/typebox'
import { summarizeTransaction } from '#chain/decode-transaction.ts'
import { toIso } from '#chain/time.ts'
import { rowIds } from './find/blocks-at.ts'
import { listTransactions, type NumberedTransaction } from './find/numbered.ts'
import { defineList } from './list/paging.ts'
import { paging, sort } from './request/parameter-types.ts'
import { checkHeadRange, headOptions, range } from './request/range.ts'
import { count, defineCreatedTime, exact, irreversibleSeq, listOfRows, shape, text, txHash } from './shape/results.ts'
import { headFields, toGas, toRowStatus } from './shape/values.ts'

const listedTransactionFields = {
  ...headFields(),
  tx_hash: txHash(),
  block: text('Block number (height).', '区块高度。'),
  created_at: defineCreatedTime(),
  publisher: text('Account that published the transaction.', '发布者账户。'),
  contract: text(
    'Contract of the first action; empty for a transaction without actions.',
    '第一个方法的合约；没有方法的交易为空。',
  ),
  action_name: text(
    'Name of the first action; empty for a transaction without actions.',
    '第一个方法的名称；没有方法的交易为空。',
  ),
  actions: count('Number of actions.', '方法数。'),
  status_code: text('SUCCESS, or the reason why the transaction failed.', 'SUCCESS，或交易失败的原因。'),
  gas_fee: exact('Gas paid.', '支付的 gas。'),
}
const defineListResult = <P extends TProperties>(row: P) =>
  listOfRows('transactions', shape(row), { en: 'Transactions of this page.', zh: '交易列表。' })

/** The transactions of the whole chain. */
export const getTransactionList = defineList({
  module: 'base',
  action: 'get-transaction-list',
  title: { en: 'Transactions', zh: '交易列表' },
  summary: {
    en: 'All transactions of the chain, including failed ones, newest first; sort=asc returns the exact reverse. The base transactions that the chain itself puts into every block are left out.',
    zh: '链上的全部交易（包括失败的），最新的在前；sort=asc 时顺序完全相反。不包括由链自身写入每个区块的 base 交易。',
  },
  params: Type.Object({ ...paging, sort: sort(), ...range, ...headOptions }),
  check: checkHeadRange,
  result: defineListResult({ seq: irreversibleSeq(), ...listedTransactionFields }),
  compatResult: defineListResult(listedTransactionFields),
  list: 'transactions',
  source: {
    // Runs of transactions are only appended to, so no state has to be held.
    state: [],
    isFeed: true,
    open: async (context, asked) => {
      const { compat, head } = context
      const rowOf = ({ seq: number, above, doc: { doc, time } }: NumberedTransaction, id: string | undefined) => {
        const { publisher, actions, first, statusCode, gasUsage } = summarizeTransaction(doc.body)
        return {
          ...(compat === 'iostabc' || above !== undefined ? {} : { seq: number }),
          ...(id === undefined ? {} : { id, status: toRowStatus(above) }),
          tx_hash: doc.hash,
          block: String(doc.height),
          created_at: toIso(time),
          publisher,
          contract: first?.contract ?? '',
          action_name: first?.actionName ?? '',
          actions,
          status_code: statusCode,
          gas_fee: toGas(gasUsage),
        }
      }
      const found = await listTransactions(context, asked)
      return {
        ...found,
        rows: async (reading, docs: readonly NumberedTransaction[]) => {
          const ids = head === undefined ? [] : await rowIds(reading, docs, ({ doc }) => doc.id)
          return { rows: docs.map((row, at) => rowOf(row, ids[at])) }
        },
      }
    },
  },
  isOfStore: true,
  fails: ['loading', 'replaced'],
  example: { page: '1', size: '5' },
})
