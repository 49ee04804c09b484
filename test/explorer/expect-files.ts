import { expect } from 'bun:test'
import { textCell } from '#explorer/download/file.ts'
import { describeOutcome } from '#explorer/format/outcome.ts'
import { readWholeCsv } from '../support/read-csv.ts'
import { type Explorer, HTML } from './served.ts'

type Row = {
  readonly action_name: string
  readonly data: readonly unknown[]
  readonly created_at: string
  readonly tx_hash: string
  readonly block: string
  readonly amount?: string
  readonly token?: string
}

export const tableOf = async (response: Response): Promise<readonly (readonly string[])[]> =>
  readWholeCsv(await response.text()).slice(1)

async function allRows<R = Row>(
  { call }: Explorer,
  action: string,
  params: Readonly<Record<string, string>>,
  list = 'transactions',
): Promise<readonly R[]> {
  const rows: R[] = []
  for (let page = 1, total = 1; rows.length < total; page++) {
    const answer = await call<Readonly<Record<string, unknown>>>(action, {
      ...{ ...params, size: '500' },
      page: String(page),
    })
    rows.push(...(answer[list] as readonly R[]))
    total = answer['total'] as number
  }
  return rows
}

function unitsOf(text: string): bigint {
  const [, sign = '', whole = '', fraction = ''] = /^([+-]?)(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  const units = BigInt(whole + fraction.padEnd(18, '0'))
  return sign === '-' ? -units : units
}

/** The balance of an account in a token at the end, from the arguments of the movements. */
const sumOf = (rows: readonly Row[], account: string, token: string): bigint =>
  rows.reduce((sum, { action_name, amount, token: moved, data: [, first, second] }) => {
    if (amount === undefined || moved !== token) return sum
    const giver = action_name === 'issue' ? '' : first
    const taker = action_name === 'issue' ? first : action_name === 'destroy' ? '' : second
    const gain = (taker === account ? unitsOf(amount) : 0n) - (giver === account ? unitsOf(amount) : 0n)
    return sum + gain
  }, 0n)

export const fileOf = async ({ ask }: Explorer, path: string): Promise<Response> =>
  ask(path, { headers: { accept: HTML } })

/** Checks the file of an account: it has every row of the API's list, and changes that add up. */
export async function expectFile(own: Explorer, account: string): Promise<void> {
  const rows = await allRows(own, 'account/get-account-tx', { account })
  const response = await fileOf(own, `/account/${encodeURIComponent(account)}/records.csv`)
  expect([account, response.status, response.headers.get('x-total-count')]).toEqual([account, 200, String(rows.length)])
  const table = await tableOf(response)
  // Apart from a signed change, no cell is a formula for a spreadsheet.
  expect(table.filter(row => row.some((cell, at) => at !== 3 && /^[=+\-@\t\r\n]/.test(cell)))).toEqual([])
  expect(table.map(([time, , , , , , , , hash, block]) => [time, hash, block])).toEqual(
    rows.map(({ created_at, tx_hash, block }) => [created_at.replace('T', ' ').replace('Z', ''), tx_hash, block]),
  )
  const tokens = new Set(table.map(([, , , , token = '']) => token).filter(token => token !== ''))
  for (const token of tokens) {
    const changes = table.filter(each => each[4] === token).map(([, , , change = '']) => change)
    expect(changes.filter(change => !/^(?:0|[+-]\d+(?:\.\d+)?)$/.test(change))).toEqual([])
    const sum = changes.reduce((all, change) => all + unitsOf(change), 0n)
    expect([account, token, sum]).toEqual([account, token, sumOf(rows, account, token)])
  }
}

type Cell = (row: Readonly<Record<string, unknown>>, at: number) => string

/** Cells that are computed from several fields have tests of their own. */
const elsewhere = undefined

const time =
  (field: string): Cell =>
  row =>
    String(row[field]).replace('T', ' ').replace('Z', '')
const nanoseconds: Cell = row =>
  new Date(Number(BigInt(String(row['time'])) / 1_000_000n)).toISOString().replace('T', ' ').replace('Z', '')
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
const WHERE = { Transaction: 'tx_hash', Block: 'block' }
const OF_RECORD = { Memo: elsewhere, Action: 'action_name', Status: elsewhere, ...WHERE }
const OF_MANY = { From: elsewhere, To: elsewhere, Amount: elsewhere, Token: elsewhere, ...OF_RECORD }
const MOMENT = { 'Time (UTC)': time('created_at') }

type FileCells = {
  readonly call: readonly [action: string, params: Readonly<Record<string, string>>, list: string]
  /** The columns in order, each with the field of a row of the call, or a function from the row to the cell. */
  readonly columns: Readonly<Record<string, string | Cell | undefined>>
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
      ...{ Block: 'number', 'Time (UTC)': nanoseconds, Producer: 'witness_account' },
      // Every block except genesis has a base transaction.
      Transactions: row => String(Number(row['tx_count']) - (row['number'] === 0 ? 0 : 1)),
      ...{ Gas: 'gas_usage', Hash: 'hash' },
    },
  },
  '/transactions.csv?start_block=4300&end_block=4400': {
    call: ['base/get-transaction-list', { start_block: '4300', end_block: '4400' }, 'transactions'],
    columns: {
      ...{ ...MOMENT, Publisher: 'publisher', Contract: 'contract' },
      ...{ Action: 'action_name', Actions: 'actions', Status: status, Gas: 'gas_fee' },
      ...WHERE,
    },
  },
  '/contracts.csv': {
    call: ['base/get-contract-list', {}, 'contracts'],
    columns: {
      ...{ Contract: 'contract_id', 'Deployed (UTC)': time('created_at') },
      ...{ Publisher: 'publisher', Records: 'records', Transaction: 'tx_hash' },
    },
  },
  '/account/admin/sub-accounts.csv': {
    call: ['account/get-subaccount-list', { account: 'admin' }, 'accounts'],
    columns: {
      ...{ Account: 'name', 'Created (UTC)': time('created_at'), Transaction: 'tx_hash' },
    },
  },
  '/token/iost/holders.csv': {
    call: ['token/get-token-holder', { token: 'iost' }, 'holders'],
    columns: { Rank: place, Owner: 'account', Available: 'balance', Token: 'symbol' },
  },
  '/wealth.csv': {
    call: ['base/get-wealth-list', {}, 'wealth'],
    columns: {
      ...{ Rank: place, Owner: 'account', 'Total without gas pledge (IOST)': 'balance' },
      ...{ 'Available (IOST)': 'token_balance', 'Voted (IOST)': 'vote_balance' },
      'Frozen (IOST)': 'frozen_balance',
    },
  },
  '/producer/producer000/voters.csv': {
    call: ['producer/get-producer-voter', { producer: 'producer000' }, 'voters'],
    columns: { Rank: place, Voter: 'account', 'Votes (IOST)': 'votes' },
  },
  '/tokens.csv': {
    call: ['base/get-token-list', {}, 'tokens'],
    columns: {
      ...{ Token: 'symbol', 'Full name': 'full_name', Issuer: 'issuer' },
      ...{ 'Created (UTC)': time('created_at'), Holders: 'holder_count' },
      ...{ Supply: 'current_supply', 'Maximum supply': 'total_supply' },
      Decimals: 'decimal',
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
      ...{ Collection: 'collection', Issuer: 'issuer', 'Created (UTC)': time('created_at') },
      ...{ NFTs: 'issued', Owners: 'owner_count', 'Maximum supply': 'total_supply' },
      Transaction: 'tx_hash',
    },
  },
  '/nft/nft_cats/owners.csv': {
    call: ['nft/get-collection-owners', { collection: 'nft_cats' }, 'owners'],
    columns: { Rank: place, Owner: 'account', NFTs: 'count' },
  },
  '/producers.csv': {
    call: ['base/get-producer-list', {}, 'producers'],
    columns: {
      ...{ Rank: 'ranking', Producer: 'account', Name: 'alias_en' },
      Status: statusOf,
      ...{ Location: 'loc', Site: 'url', 'Blocks made': 'block_count' },
      ...{ 'Rewards received (IOST)': 'received_award', 'Votes (IOST)': 'votes' },
      ...{ '7-day change (IOST)': row => String(row['votes_change_7d']), Voters: 'voter_count' },
    },
  },
}

/** Checks that the cells of a file match the API's list, row by row. Returns the number of rows. */
export async function expectCells(own: Explorer, path: string): Promise<number> {
  const { call, columns } = fileCells[path] ?? { call: ['', {}, ''], columns: {} }
  const [action, params, list] = call
  const rows = await allRows<Readonly<Record<string, unknown>>>(own, action, params, list)
  const response = await fileOf(own, path)
  expect([path, response.status, response.headers.get('x-total-count')]).toEqual([path, 200, String(rows.length)])
  const [heads = [], ...table] = readWholeCsv((await response.text()).replace('\ufeff', ''))
  expect([path, heads]).toEqual([path, Object.keys(columns)])
  const cells = Object.values(columns)
  const compared = (row: readonly string[]) => row.filter((_cell, at) => cells[at] !== undefined)
  expect([path, table.map(compared)]).toEqual([
    path,
    rows.map((row, at) =>
      cells.flatMap(cell => {
        if (cell === undefined) return []
        return [typeof cell === 'string' ? textCell(String(row[cell])) : cell(row, at)]
      }),
    ),
  ])
  return table.length
}
