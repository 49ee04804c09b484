import type { Page } from './page.ts'
import { accountPage } from './pages/account.tsx'
import { balancePage } from './pages/balance.tsx'
import { blockPage } from './pages/block.tsx'
import { contractPage } from './pages/contract.tsx'
import { contractStoragePage } from './pages/contract-storage.tsx'
import { homePage } from './pages/home.tsx'
import { blocksPage, collectionsPage, contractsPage, tokensPage, transactionsPage } from './pages/lists.tsx'
import { collectionPage, nftPage } from './pages/nft.tsx'
import { producerPage } from './pages/producer.tsx'
import { producersPage } from './pages/producers.tsx'
import { searchPage, suggestPage } from './pages/search.tsx'
import { sitemapPage } from './pages/sitemap.ts'
import { statisticPage, statisticsPage } from './pages/statistics.tsx'
import { tokenPage } from './pages/token.tsx'
import { transactionPage } from './pages/transaction.tsx'
import { wealthPage } from './pages/wealth.tsx'

/** All pages, in an explicit list. The first page whose path matches is shown. */
export const pages: readonly Page[] = [
  homePage,
  searchPage,
  suggestPage,
  sitemapPage,
  blocksPage,
  blockPage,
  tokensPage,
  tokenPage,
  collectionsPage,
  collectionPage,
  nftPage,
  producersPage,
  producerPage,
  wealthPage,
  statisticsPage,
  statisticPage,
  transactionsPage,
  transactionPage,
  accountPage,
  balancePage,
  contractsPage,
  contractPage,
  contractStoragePage,
]
