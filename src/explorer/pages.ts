import type { Page } from './page.ts'
import { accountPage } from './pages/account.tsx'
import { blockPage } from './pages/block.tsx'
import { blocksPage } from './pages/blocks.tsx'
import { contractPage } from './pages/contract.tsx'
import { contractsPage } from './pages/contracts.tsx'
import { homePage } from './pages/home.tsx'
import { searchPage } from './pages/search.tsx'
import { transactionPage } from './pages/transaction.tsx'
import { transactionsPage } from './pages/transactions.tsx'

/** Every page, listed by hand; the first whose path fits is shown. */
export const pages: readonly Page[] = [
  homePage,
  searchPage,
  blocksPage,
  blockPage,
  transactionsPage,
  transactionPage,
  accountPage,
  contractsPage,
  contractPage,
]
