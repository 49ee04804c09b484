import type { Page } from './page.ts'
import { accountPage } from './pages/account.tsx'
import { balancePage } from './pages/balance.tsx'
import { blockPage } from './pages/block.tsx'
import { blocksPage } from './pages/blocks.tsx'
import { collectionPage } from './pages/collection.tsx'
import { collectionsPage } from './pages/collections.tsx'
import { contractPage } from './pages/contract.tsx'
import { contractStoragePage } from './pages/contract-storage.tsx'
import { contractsPage } from './pages/contracts.tsx'
import { homePage } from './pages/home.tsx'
import { nftPage } from './pages/nft.tsx'
import { producerPage } from './pages/producer.tsx'
import { producersPage } from './pages/producers.tsx'
import { searchPage } from './pages/search.tsx'
import { sitemapPage } from './pages/sitemap.ts'
import { statisticPage } from './pages/statistic.tsx'
import { statisticsPage } from './pages/statistics.tsx'
import { suggestPage } from './pages/suggest.tsx'
import { tokenPage } from './pages/token.tsx'
import { tokensPage } from './pages/tokens.tsx'
import { transactionPage } from './pages/transaction.tsx'
import { transactionsPage } from './pages/transactions.tsx'
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
