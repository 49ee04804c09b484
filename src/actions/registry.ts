import type { ApiAction } from './define.ts'
import { getAccountAssets, getAccountDetail, getSubaccountList, getTokenList } from './get-account.ts'
import { getAccountTx } from './get-account-tx.ts'
import { getAccountActivity, getContractActivity } from './get-activity.ts'
import { getAccountBalance, getBalanceHistory, getBalances, getVoteHistory } from './get-balance.ts'
import { getBlockDetail, getBlockList, getBlockTx, getLatestBlock } from './get-block.ts'
import { getContractAbi, getContractCode, getContractDetail, getContractList, getContractTx } from './get-contract.ts'
import {
  getAccountNfts,
  getCollectionDetail,
  getCollectionList,
  getCollectionNfts,
  getCollectionOwners,
  getNftDetail,
  getNftHistory,
} from './get-nft.ts'
import { getDailyStatistics, getOverview, getWealthList } from './get-overview.ts'
import {
  getProducerDetail,
  getProducerList,
  getProducerRegistration,
  getProducerVoter,
  getProducerVotes,
} from './get-producer.ts'
import { getRewardHistory, getRewardShares } from './get-reward.ts'
import { getBaseTokenList, getSupplyHistory, getTokenDetail, getTokenHolder, getTokenTx } from './get-token.ts'
import {
  getTransactionAction,
  getTransactionDetail,
  getTransactionList,
  getTransactionReceipt,
  getTransactionRecords,
  getTransactions,
} from './get-transaction.ts'
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
