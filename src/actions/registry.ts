import type { ApiAction } from './define.ts'
import { getAccountAssets } from './get-account-assets.ts'
import { getAccountBalance } from './get-account-balance.ts'
import { getAccountDetail } from './get-account-detail.ts'
import { getAccountNfts } from './get-account-nfts.ts'
import { getAccountTx } from './get-account-tx.ts'
import { getAccountActivity, getContractActivity } from './get-activity.ts'
import { getBalanceHistory } from './get-balance-history.ts'
import { getBalances } from './get-balances.ts'
import { getBaseTokenList } from './get-base-token-list.ts'
import { getBlockDetail, getBlockTx, getLatestBlock } from './get-block.ts'
import { getBlockList } from './get-block-list.ts'
import { getCollectionDetail, getCollectionList, getCollectionNfts, getCollectionOwners } from './get-collection.ts'
import { getContractAbi, getContractCode, getContractDetail, getContractList } from './get-contract.ts'
import { getContractTx } from './get-contract-tx.ts'
import { getDailyStatistics } from './get-daily-statistics.ts'
import { getNftDetail, getNftHistory } from './get-nft.ts'
import { getOverview } from './get-overview.ts'
import { getProducerDetail } from './get-producer-detail.ts'
import { getProducerList } from './get-producer-list.ts'
import { getProducerRegistration } from './get-producer-registration.ts'
import { getProducerVoter } from './get-producer-voter.ts'
import { getProducerVotes } from './get-producer-votes.ts'
import { getRewardHistory } from './get-reward-history.ts'
import { getRewardShares } from './get-reward-shares.ts'
import { getSubaccountList } from './get-subaccount-list.ts'
import { getSupplyHistory } from './get-supply-history.ts'
import { getTokenDetail } from './get-token-detail.ts'
import { getTokenHolder } from './get-token-holder.ts'
import { getTokenList } from './get-token-list.ts'
import { getTokenTx } from './get-token-tx.ts'
import {
  getTransactionAction,
  getTransactionDetail,
  getTransactionReceipt,
  getTransactionRecords,
  getTransactions,
} from './get-transaction.ts'
import { getTransactionList } from './get-transaction-list.ts'
import { getVoteHistory } from './get-vote-history.ts'
import { getWealthList } from './get-wealth-list.ts'
import { search } from './search.ts'

/** All actions of the interface, in the order of the reference. */
export const actions: readonly ApiAction[] = [
  getOverview,
  getDailyStatistics,
  getWealthList,
  getBlockList,
  getBaseTokenList,
  getProducerList,
  search,
  getTransactionList,
  getContractList,
  getAccountDetail,
  getAccountBalance,
  getAccountAssets,
  getBalances,
  getSubaccountList,
  getAccountTx,
  getAccountActivity,
  getTokenList,
  getBalanceHistory,
  getVoteHistory,
  getProducerDetail,
  getProducerVoter,
  getProducerVotes,
  getRewardHistory,
  getRewardShares,
  getProducerRegistration,
  getBlockDetail,
  getLatestBlock,
  getBlockTx,
  getContractDetail,
  getContractAbi,
  getContractCode,
  getContractTx,
  getContractActivity,
  getTokenDetail,
  getTokenHolder,
  getSupplyHistory,
  getTokenTx,
  getCollectionList,
  getCollectionDetail,
  getCollectionNfts,
  getCollectionOwners,
  getAccountNfts,
  getNftDetail,
  getNftHistory,
  getTransactionDetail,
  getTransactions,
  getTransactionAction,
  getTransactionReceipt,
  getTransactionRecords,
]

/** The modules in the order of the reference. */
export const modules: readonly string[] = [...new Set(actions.map(({ module }) => module))]
