/** @jsxImportSource @kitajs/html */
import { getTransactionList } from '#actions/get-transaction-list.ts'
import type { Page } from '../page.ts'
import { Pager, pageGiven } from '../part/pager.tsx'
import { TransactionRows } from '../part/transaction-rows.tsx'

/** All transactions. */
export const transactionsPage: Page = {
  path: '/transactions',
  show: async visit => {
    const { transactions, total } = await visit.ask(getTransactionList, pageGiven(visit))
    const title = visit.say({ en: 'Transactions', zh: '交易' })
    return {
      title,
      isMinor: visit.query.has('page'),
      body: (
        <>
          <h1 safe>{title}</h1>
          <section class="card">
            <TransactionRows visit={visit} rows={transactions} live="transactions" />
            <Pager visit={visit} total={total} />
          </section>
        </>
      ),
    }
  },
}
