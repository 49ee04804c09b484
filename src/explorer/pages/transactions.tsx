/** @jsxImportSource @kitajs/html */
import { getTransactionList } from '#actions/get-transaction-list.ts'
import { transactionFile } from '../download/histories.ts'
import { grouped } from '../format/amount.ts'
import { counted } from '../format/counted.ts'
import { publishedMovements } from '../moved.ts'
import type { Page } from '../page.ts'
import { listPage } from '../part/list-page.tsx'
import { pageGiven } from '../part/pager.tsx'
import { TransactionRows } from '../part/transaction-rows.tsx'

/** All transactions. */
export const transactionsPage: Page = {
  path: '/transactions',
  show: async visit => {
    const { transactions, total } = await visit.ask(getTransactionList, pageGiven(visit))
    const hashes = transactions.map(({ tx_hash }) => tx_hash)
    const moved = await publishedMovements(visit, hashes)
    return listPage(visit, {
      title: { en: 'Transactions', zh: '交易' },
      lead: {
        en: `${counted(total, 'transaction')}, newest first.`,
        zh: `共 ${grouped(String(total))} 笔交易，最新的在前。`,
      },
      total,
      file: transactionFile,
      table: <TransactionRows visit={visit} rows={transactions} moved={moved} live="transactions" />,
    })
  },
}
