import { textCell } from '#explorer/download/file.ts'
import { describeOutcome } from '#explorer/format/outcome.ts'

/** A row of the API's list, in which amounts are texts. */
type Row = Readonly<Record<string, unknown>>
type Cell = (row: Row, at: number) => string

/** Cells that are computed from several fields have tests of their own. */
const elsewhere = undefined

const text =
  (field: string): Cell =>
  row =>
    textCell(String(row[field]))
const number =
  (field: string): Cell =>
  row =>
    String(row[field])
const time =
  (field: string): Cell =>
  row =>
    String(row[field]).replace('T', ' ').replace('Z', '')
const nanoseconds: Cell = row =>
  new Date(Number(BigInt(String(row['time'])) / 1_000_000n)).toISOString().replace('T', ' ').replace('Z', '')
/** The words for a producer's status. */
const PRODUCER_STATUSES: ReadonlyMap<unknown, string> = new Map([
  ['APPLY', 'Waiting for approval'],
  ['UNAPPLY', 'Asked to leave'],
  ['UNAPPLY_APPROVED', 'Removed by the administrators'],
])
const statusOf: Cell = row =>
  PRODUCER_STATUSES.get(row['status']) ??
  (row['isProducer'] !== true ? 'Not a candidate' : row['online'] === true ? 'Online' : 'Offline')
const place: Cell = (_row, at) => String(at + 1)
const status: Cell = row => describeOutcome(String(row['status_code'])).en
const WHERE = { Transaction: number('tx_hash'), Block: number('block') }
const OF_RECORD = { Memo: elsewhere, Action: text('action_name'), Status: elsewhere, ...WHERE }
const OF_MANY = { From: elsewhere, To: elsewhere, Amount: elsewhere, Token: elsewhere, ...OF_RECORD }
const MOMENT = { 'Time (UTC)': time('created_at') }

type FileCells = {
  /** The call of the API whose list the file contains. */
  readonly call: readonly [action: string, params: Readonly<Record<string, string>>, list: string]
  /** The columns in order, each with a function from a row of the call to the cell. */
  readonly columns: Readonly<Record<string, Cell | undefined>>
}

/** Addresses of files of the recorded chain, one or more for each list. */
export const fileCells: Readonly<Record<string, FileCells>> = {
  '/account/12345/records.csv': {
    call: ['account/get-account-tx', { account: '12345' }, 'transactions'],
    columns: {
      ...{ ...MOMENT, Direction: elsewhere, Counterparty: elsewhere, Change: elsewhere, Token: elsewhere },
      ...OF_RECORD,
    },
  },
  '/contract/exchange.iost/records.csv': {
    call: ['contract/get-contract-tx', { contract: 'exchange.iost' }, 'transactions'],
    columns: { ...MOMENT, ...OF_MANY },
  },
  '/token/contribute/movements.csv': {
    call: ['token/get-token-tx', { token: 'contribute' }, 'transactions'],
    columns: { ...MOMENT, ...OF_MANY },
  },
  '/blocks.csv': {
    call: ['base/get-block-list', {}, 'blocks'],
    columns: {
      ...{ Block: number('number'), 'Time (UTC)': nanoseconds, Producer: text('witness_account') },
      // Every block except genesis has a base transaction.
      Transactions: row => String(Number(row['tx_count']) - (row['number'] === 0 ? 0 : 1)),
      ...{ Gas: number('gas_usage'), Hash: number('hash') },
    },
  },
  '/transactions.csv?start_block=4300&end_block=4400': {
    call: ['base/get-transaction-list', { start_block: '4300', end_block: '4400' }, 'transactions'],
    columns: {
      ...{ ...MOMENT, Publisher: text('publisher'), Contract: text('contract') },
      ...{ Action: text('action_name'), Actions: number('actions'), Status: status, Gas: number('gas_fee') },
      ...WHERE,
    },
  },
  '/contracts.csv': {
    call: ['base/get-contract-list', {}, 'contracts'],
    columns: {
      ...{ Contract: text('contract_id'), 'Deployed (UTC)': time('created_at') },
      ...{ Publisher: text('publisher'), Records: number('records'), Transaction: number('tx_hash') },
    },
  },
  '/account/admin/sub-accounts.csv': {
    call: ['account/get-subaccount-list', { account: 'admin' }, 'accounts'],
    columns: {
      ...{ Account: text('name'), 'Created (UTC)': time('created_at'), Transaction: number('tx_hash') },
    },
  },
  '/token/iost/holders.csv': {
    call: ['token/get-token-holder', { token: 'iost' }, 'holders'],
    columns: { Rank: place, Owner: text('account'), Available: number('balance'), Token: text('symbol') },
  },
  '/wealth.csv': {
    call: ['base/get-wealth-list', {}, 'wealth'],
    columns: {
      ...{ Rank: place, Owner: text('account'), 'Total without gas pledge (IOST)': number('balance') },
      ...{ 'Available (IOST)': number('token_balance'), 'Voted (IOST)': number('vote_balance') },
      'Frozen (IOST)': number('frozen_balance'),
    },
  },
  '/producer/producer000/voters.csv': {
    call: ['producer/get-producer-voter', { producer: 'producer000' }, 'voters'],
    columns: { Rank: place, Voter: text('account'), 'Votes (IOST)': number('votes') },
  },
  '/tokens.csv': {
    call: ['base/get-token-list', {}, 'tokens'],
    columns: {
      ...{ Token: text('symbol'), 'Full name': text('full_name'), Issuer: text('issuer') },
      ...{ 'Created (UTC)': time('created_at'), Holders: number('holder_count') },
      ...{ Supply: number('current_supply'), 'Maximum supply': number('total_supply') },
      Decimals: number('decimal'),
      Transfers: row =>
        row['can_transfer'] !== true
          ? 'Not allowed'
          : row['only_issuer_can_transfer'] === true
            ? "Only with the issuer's permission"
            : 'Allowed',
    },
  },
  '/nfts.csv': {
    call: ['nft/get-collection-list', {}, 'collections'],
    columns: {
      ...{ Collection: text('collection'), Issuer: text('issuer'), 'Created (UTC)': time('created_at') },
      ...{ NFTs: number('issued'), Owners: number('owner_count'), 'Maximum supply': number('total_supply') },
      Transaction: number('tx_hash'),
    },
  },
  '/nft/nft_cats/owners.csv': {
    call: ['nft/get-collection-owners', { collection: 'nft_cats' }, 'owners'],
    columns: { Rank: place, Owner: text('account'), NFTs: number('count') },
  },
  '/producers.csv': {
    call: ['base/get-producer-list', {}, 'producers'],
    columns: {
      ...{ Rank: number('ranking'), Producer: text('account'), Name: text('alias_en') },
      Status: statusOf,
      ...{ Location: text('loc'), Site: text('url'), 'Blocks made': number('block_count') },
      ...{ 'Rewards received (IOST)': number('received_award'), 'Votes (IOST)': number('votes') },
      ...{ '7-day change (IOST)': number('votes_change_7d'), Voters: number('voter_count') },
    },
  },
}
