import type { AnswerOf } from '#actions/ask.ts'
import type { Rows } from '#actions/find/listing.ts'
import { getSubaccountList } from '#actions/get-account.ts'
import { getAccountTx } from '#actions/get-account-tx.ts'
import { getBlockList } from '#actions/get-block.ts'
import { getContractList, getContractTx } from '#actions/get-contract.ts'
import { getCollectionList, getCollectionOwners } from '#actions/get-nft.ts'
import { getWealthList } from '#actions/get-overview.ts'
import { getProducerList, getProducerVoter } from '#actions/get-producer.ts'
import { getBaseTokenList, getTokenHolder, getTokenTx } from '#actions/get-token.ts'
import { getTransactionList } from '#actions/get-transaction.ts'
import { parseChainArguments } from '#chain/effects.ts'
import { Exact, RawJson } from '#chain/json.ts'
import { findCanonicalName } from '../find/known.ts'
import { countOwnTransactions } from '../format/amount.ts'
import { ACCOUNT_FIELDS, CONTRACT_FIELDS, TOKEN_FIELDS } from '../format/field.ts'
import { describeOutcome } from '../format/outcome.ts'
import { findDirection, findMoved, getMemo, getRowParties, type RecordRow, WAYS } from '../format/record.ts'
import { describeProducerStatus, describeTransferability, profileText } from '../format/state.ts'
import { formatIso } from '../format/time.ts'
import {
  column,
  createListFile,
  type Download,
  type FileColumn,
  type FileRequest,
  numberCell,
  rank,
  textCell,
  timeCell,
} from './file.ts'

/** Files of events, for any period. */

export const blockFile = createListFile<AnswerOf<typeof getBlockList>['blocks'][number]>({
  path: '/blocks.csv',
  action: getBlockList,
  what: 'blocks',
  isOfTime: true,
  columns: () => [
    column('Block', '区块', row => numberCell(row.number)),
    column('Time (UTC)', '时间（UTC）', row => timeCell(formatIso(row.time))),
    column('Producer', '生产者', row => textCell(row.witness_account)),
    column('Transactions', '交易数', row => numberCell(countOwnTransactions(row.number, row.tx_count))),
    column('Gas', 'Gas', row => numberCell(row.gas_usage)),
    column('Hash', '哈希', row => row.hash),
  ],
})

export const transactionFile = createListFile<AnswerOf<typeof getTransactionList>['transactions'][number]>({
  path: '/transactions.csv',
  action: getTransactionList,
  what: 'transactions',
  isOfTime: true,
  columns: ({ lang }) => [
    column('Time (UTC)', '时间（UTC）', row => timeCell(row.created_at)),
    column('Publisher', '发布者', row => textCell(row.publisher)),
    column('Contract', '合约', row => textCell(row.contract)),
    column('Action', '方法', row => textCell(row.action_name)),
    column('Actions', '方法数', row => numberCell(row.actions)),
    column('Status', '状态', row => textCell(describeOutcome(row.status_code)[lang])),
    column('Gas', 'Gas', row => numberCell(row.gas_fee)),
    column('Transaction', '交易', row => row.tx_hash),
    column('Block', '区块', row => numberCell(row.block)),
  ],
})

export const contractFile = createListFile<AnswerOf<typeof getContractList>['contracts'][number]>({
  path: '/contracts.csv',
  action: getContractList,
  what: 'contracts',
  isOfTime: true,
  columns: () => [
    column('Contract', '合约', row => textCell(String(row.contract_id))),
    column('Deployed (UTC)', '部署时间（UTC）', row => timeCell(row.created_at)),
    column('Publisher', '部署者', row => textCell(row.publisher)),
    column('Records', '记录数', row => numberCell(row.records)),
    column('Transaction', '交易', row => row.tx_hash),
  ],
})

export const subAccountFile = createListFile<AnswerOf<typeof getSubaccountList>['accounts'][number]>({
  path: '/account/{id}/sub-accounts.csv',
  action: getSubaccountList,
  of: 'account',
  what: 'sub-accounts',
  isOfTime: true,
  columns: () => [
    column('Account', '账户', row => textCell(row.name)),
    column('Created (UTC)', '创建时间（UTC）', row => timeCell(row.created_at)),
    column('Transaction', '交易', row => row.tx_hash),
  ],
})

/** Files of the state at the height in their names. */

export const holderFile = createListFile<AnswerOf<typeof getTokenHolder>['holders'][number]>({
  path: '/token/{id}/holders.csv',
  action: getTokenHolder,
  of: 'token',
  what: 'holders',
  isOfTime: false,
  columns: () => [
    rank,
    column('Owner', '持有者', row => textCell(row.account)),
    column('Available', '可用余额', row => numberCell(row.balance)),
    column('Token', '代币', row => textCell(row.symbol)),
  ],
})

export const wealthFile = createListFile<AnswerOf<typeof getWealthList>['wealth'][number]>({
  path: '/wealth.csv',
  action: getWealthList,
  what: 'wealth',
  isOfTime: false,
  columns: () => [
    rank,
    column('Owner', '持有者', row => textCell(row.account)),
    column('Total without gas pledge (IOST)', '总额，不含 gas 质押（IOST）', row => numberCell(row.balance)),
    column('Available (IOST)', '可用（IOST）', row => numberCell(row.token_balance)),
    column('Voted (IOST)', '投票（IOST）', row => numberCell(row.vote_balance)),
    column('Frozen (IOST)', '冻结（IOST）', row => numberCell(row.frozen_balance)),
  ],
})

export const voterFile = createListFile<AnswerOf<typeof getProducerVoter>['voters'][number]>({
  path: '/producer/{id}/voters.csv',
  action: getProducerVoter,
  of: 'producer',
  what: 'voters',
  isOfTime: false,
  columns: () => [
    rank,
    column('Voter', '投票者', row => textCell(row.account)),
    column('Votes (IOST)', '所投票数（IOST）', row => numberCell(row.votes)),
  ],
})

export const tokenFile = createListFile<AnswerOf<typeof getBaseTokenList>['tokens'][number]>({
  path: '/tokens.csv',
  action: getBaseTokenList,
  what: 'tokens',
  isOfTime: false,
  columns: ({ lang }) => [
    column('Token', '代币', row => textCell(row.symbol)),
    column('Full name', '全名', row => textCell(row.full_name)),
    column('Issuer', '发行者', row => textCell(row.issuer)),
    column('Created (UTC)', '创建时间（UTC）', row => timeCell(row.created_at)),
    column('Holders', '持有者数', row => numberCell(row.holder_count)),
    column('Supply', '供应量', row => numberCell(row.current_supply)),
    column('Maximum supply', '最大供应量', row => numberCell(row.total_supply)),
    column('Decimals', '小数位数', row => numberCell(row.decimal)),
    column('Transfers', '转账', row => describeTransferability(row)[lang]),
  ],
})

export const collectionFile = createListFile<AnswerOf<typeof getCollectionList>['collections'][number]>({
  path: '/nfts.csv',
  action: getCollectionList,
  what: 'nft-collections',
  isOfTime: false,
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

export const collectionOwnerFile = createListFile<AnswerOf<typeof getCollectionOwners>['owners'][number]>({
  path: '/nft/{id}/owners.csv',
  action: getCollectionOwners,
  of: 'collection',
  what: 'owners',
  isOfTime: false,
  columns: () => [
    rank,
    column('Owner', '持有者', row => textCell(row.account)),
    column('NFTs', 'NFT 数量', row => numberCell(row.count)),
  ],
})

export const producerFile = createListFile<AnswerOf<typeof getProducerList>['producers'][number]>({
  path: '/producers.csv',
  action: getProducerList,
  what: 'producers',
  isOfTime: false,
  columns: ({ lang }) => [
    column('Rank', '排名', row => numberCell(row.ranking)),
    column('Producer', '生产者', row => textCell(row.account)),
    column('Name', '名称', row => textCell(profileText(lang, row.alias, row.alias_en))),
    column('Status', '状态', row => describeProducerStatus(row)[lang]),
    column('Location', '地区', row => textCell(row.loc)),
    column('Site', '网址', row => textCell(row.url)),
    column('Blocks made', '出块数', row => numberCell(row.block_count)),
    column('Rewards received (IOST)', '已获奖励（IOST）', row => numberCell(row.received_award)),
    column('Votes (IOST)', '票数（IOST）', row => numberCell(row.votes)),
    column('7-day change (IOST)', '近 7 天变化（IOST）', row => numberCell(row.votes_change_7d)),
    column('Voters', '投票者数', row => numberCell(row.voter_count)),
  ],
})

/** The rows with their arguments, which an export keeps separately. */
const listRecordRows = ({ rows, data = [] }: Rows): readonly RecordRow[] =>
  rows.map((row, at) => ({ ...(row as RecordRow), data: parseDataArguments(data[at]) }))

const parseDataArguments = (data: RawJson | string | undefined): readonly unknown[] =>
  data instanceof RawJson ? (parseChainArguments(data.text) ?? []) : []

type RecordColumn = FileColumn<RecordRow>

const time: RecordColumn = column('Time (UTC)', '时间（UTC）', ({ created_at }) => timeCell(created_at))
const token: RecordColumn = column('Token', '代币', row => textCell(findMoved(row)?.token ?? ''))

/** The last columns of every file of records. */
const listLastColumns = ({ lang }: FileRequest): readonly RecordColumn[] => [
  token,
  column('Memo', '备注', ({ action_name, data }) => textCell(getMemo(action_name, data))),
  column('Action', '方法', ({ action_name }) => textCell(action_name)),
  column('Status', '状态', ({ status_code }) => textCell(describeOutcome(status_code)[lang])),
  column('Transaction', '交易', ({ tx_hash }) => tx_hash),
  column('Block', '区块', ({ block }) => numberCell(block)),
]

/** The counterparty of a row; both parties where the owner is neither of them. */
function formatCounterparty(row: RecordRow, owner: string): string {
  const { from, to } = getRowParties(row)
  if (from === owner) return to
  if (to === owner) return from
  return [from, to].filter(name => name !== '').join(' → ')
}

function listOwnerColumns(request: FileRequest): readonly RecordColumn[] {
  const { id, lang } = request
  const directionOf = (row: RecordRow): string => {
    const way = findDirection(row, id)
    return way === undefined ? '' : WAYS[way][lang]
  }
  return [
    time,
    column('Direction', '方向', directionOf),
    column('Counterparty', '对方', row => textCell(formatCounterparty(row, id))),
    column('Change', '变动', row => {
      const amount = findMoved(row)?.amount
      const way = findDirection(row, id)
      if (amount === undefined || way === undefined) return ''
      return new Exact(way === 'in' ? `+${amount}` : way === 'out' ? `-${amount}` : '0')
    }),
    ...listLastColumns(request),
  ]
}

const listPartyColumns = (request: FileRequest): readonly RecordColumn[] => [
  time,
  column('From', '转出方', row => textCell(getRowParties(row).from)),
  column('To', '转入方', row => textCell(getRowParties(row).to)),
  column('Amount', '数量', row => {
    const amount = findMoved(row)?.amount
    return amount === undefined ? '' : numberCell(amount)
  }),
  ...listLastColumns(request),
]

type Kind = Pick<Parameters<typeof createListFile<RecordRow>>[0], 'path' | 'action' | 'of' | 'fields' | 'columns'>

const recordFile = (kind: Kind): Download => createListFile({ ...kind, isOfTime: true, read: listRecordRows })

export const accountRecords: Download = {
  ...recordFile({
    path: '/account/{id}/records.csv',
    action: getAccountTx,
    of: 'account',
    fields: ACCOUNT_FIELDS,
    columns: listOwnerColumns,
  }),
  // The columns are from the view of one owner, so its canonical name is needed.
  exactName: findCanonicalName,
}

export const contractRecords = recordFile({
  path: '/contract/{id}/records.csv',
  action: getContractTx,
  of: 'contract',
  fields: CONTRACT_FIELDS,
  columns: listPartyColumns,
})

export const tokenMovements = recordFile({
  path: '/token/{id}/movements.csv',
  action: getTokenTx,
  of: 'token',
  fields: TOKEN_FIELDS,
  columns: listPartyColumns,
})

/** All files that pages offer, in an explicit list. */
export const downloads: readonly Download[] = [
  ...[accountRecords, contractRecords, tokenMovements],
  ...[blockFile, transactionFile, contractFile, subAccountFile],
  ...[holderFile, wealthFile, voterFile, tokenFile, producerFile],
  ...[collectionFile, collectionOwnerFile],
]
