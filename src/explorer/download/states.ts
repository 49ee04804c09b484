import type { AnswerOf } from '#actions/ask.ts'
import { getBaseTokenList } from '#actions/get-base-token-list.ts'
import { getCollectionList } from '#actions/get-collection-list.ts'
import { getCollectionOwners } from '#actions/get-collection-owners.ts'
import { getProducerList } from '#actions/get-producer-list.ts'
import { getProducerVoter } from '#actions/get-producer-voter.ts'
import { getTokenHolder } from '#actions/get-token-holder.ts'
import { getWealthList } from '#actions/get-wealth-list.ts'
import { producerStatusOf } from '../format/producer-status.ts'
import { profileText } from '../format/profile.ts'
import { transferabilityOf } from '../format/transferability.ts'
import { textCell } from './cell.ts'
import { listFile } from './list-file.ts'
import { column, numberCell, rank, timeCell } from './table.ts'

/** Files of the state at the height in their names. */

export const holderFile = listFile<AnswerOf<typeof getTokenHolder>['holders'][number]>({
  ...{ path: '/token/{id}/holders.csv', action: getTokenHolder, of: 'token' },
  ...{ what: 'holders', isOfTime: false },
  columns: () => [
    rank,
    column('Owner', '持有者', row => textCell(row.account)),
    column('Available', '可用余额', row => numberCell(row.balance)),
    column('Token', '代币', row => textCell(row.symbol)),
  ],
})

export const wealthFile = listFile<AnswerOf<typeof getWealthList>['wealth'][number]>({
  ...{ path: '/wealth.csv', action: getWealthList, what: 'wealth', isOfTime: false },
  columns: () => [
    rank,
    column('Owner', '持有者', row => textCell(row.account)),
    column('Total without gas pledge (IOST)', '总额，不含 gas 质押（IOST）', row => numberCell(row.balance)),
    column('Available (IOST)', '可用（IOST）', row => numberCell(row.token_balance)),
    column('Voted (IOST)', '投票（IOST）', row => numberCell(row.vote_balance)),
    column('Frozen (IOST)', '冻结（IOST）', row => numberCell(row.frozen_balance)),
  ],
})

export const voterFile = listFile<AnswerOf<typeof getProducerVoter>['voters'][number]>({
  ...{ path: '/producer/{id}/voters.csv', action: getProducerVoter, of: 'producer' },
  ...{ what: 'voters', isOfTime: false },
  columns: () => [
    rank,
    column('Voter', '投票者', row => textCell(row.account)),
    column('Votes (IOST)', '所投票数（IOST）', row => numberCell(row.votes)),
  ],
})

export const tokenFile = listFile<AnswerOf<typeof getBaseTokenList>['tokens'][number]>({
  ...{ path: '/tokens.csv', action: getBaseTokenList, what: 'tokens', isOfTime: false },
  columns: ({ lang }) => [
    column('Token', '代币', row => textCell(row.symbol)),
    column('Full name', '全名', row => textCell(row.full_name)),
    column('Issuer', '发行者', row => textCell(row.issuer)),
    column('Created (UTC)', '创建时间（UTC）', row => timeCell(row.created_at)),
    column('Holders', '持有者数', row => numberCell(row.holder_count)),
    column('Supply', '供应量', row => numberCell(row.current_supply)),
    column('Maximum supply', '最大供应量', row => numberCell(row.total_supply)),
    column('Decimals', '小数位数', row => numberCell(row.decimal)),
    column('Transfers', '转账', row => transferabilityOf(row)[lang]),
  ],
})

export const collectionFile = listFile<AnswerOf<typeof getCollectionList>['collections'][number]>({
  ...{ path: '/nfts.csv', action: getCollectionList, what: 'nft-collections', isOfTime: false },
  columns: () => [
    column('Collection', '合集', row => textCell(row.collection)),
    column('Issuer', '发行者', row => textCell(row.issuer)),
    column('Created (UTC)', '创建时间（UTC）', row => timeCell(row.created_at)),
    column('NFTs', 'NFT 数量', row => numberCell(row.issued)),
    column('Owners', '持有者数', row => numberCell(row.owner_count)),
    column('Maximum supply', '最大供应量', row => numberCell(row.total_supply)),
    column('Transaction', '交易', row => row.tx_hash),
  ],
})

export const collectionOwnerFile = listFile<AnswerOf<typeof getCollectionOwners>['owners'][number]>({
  ...{ path: '/nft/{id}/owners.csv', action: getCollectionOwners, of: 'collection' },
  ...{ what: 'owners', isOfTime: false },
  columns: () => [
    rank,
    column('Owner', '持有者', row => textCell(row.account)),
    column('NFTs', 'NFT 数量', row => numberCell(row.count)),
  ],
})

export const producerFile = listFile<AnswerOf<typeof getProducerList>['producers'][number]>({
  ...{ path: '/producers.csv', action: getProducerList, what: 'producers', isOfTime: false },
  columns: ({ lang }) => [
    column('Rank', '排名', row => numberCell(row.ranking)),
    column('Producer', '生产者', row => textCell(row.account)),
    column('Name', '名称', row => textCell(profileText(lang, row.alias, row.alias_en))),
    column('Status', '状态', row => producerStatusOf(row)[lang]),
    column('Location', '地区', row => textCell(row.loc)),
    column('Site', '网址', row => textCell(row.url)),
    column('Blocks made', '出块数', row => numberCell(row.block_count)),
    column('Rewards received (IOST)', '已获奖励（IOST）', row => numberCell(row.received_award)),
    column('Votes (IOST)', '票数（IOST）', row => numberCell(row.votes)),
    column('7-day change (IOST)', '近 7 天变化（IOST）', row => numberCell(row.votes_change_7d)),
    column('Voters', '投票者数', row => numberCell(row.voter_count)),
  ],
})
