import { expect } from 'bun:test'
import { textCell } from '#explorer/download/file.ts'
import { describeOutcome } from '#explorer/format/outcome.ts'
import { readWholeCsv } from '../support/read-csv.ts'
import { units } from './numbers.ts'
import { type Explorer, HTML } from './served.ts'

type Row = Awaited<ReturnType<Explorer['list']>>[number]

/** The balance of an account in a token at the end, from the arguments of the movements. */
const balanceOf = (rows: readonly Row[], account: string, token: string): bigint =>
  rows.reduce((sum, { action_name, amount, token: moved, data: [, first, second] }) => {
    if (amount === undefined || moved !== token) return sum
    const giver = action_name === 'issue' ? '' : first
    const taker = action_name === 'issue' ? first : action_name === 'destroy' ? '' : second
    return sum + units(amount, 18) * (BigInt(taker === account) - BigInt(giver === account))
  }, 0n)

export const fileOf = async ({ ask }: Explorer, path: string): Promise<Response> =>
  ask(path, { headers: { accept: HTML } })

/** The lines of a file, which must have as many rows as the API's list. */
async function readFile(own: Explorer, path: string, { length }: readonly Row[]) {
  const response = await fileOf(own, path)
  expect([path, response.status, response.headers.get('x-total-count')]).toEqual([path, 200, String(length)])
  return readWholeCsv((await response.text()).replace('\ufeff', ''))
}

/** Checks the file of an account: it has every row of the API's list, and changes that add up. */
export async function expectFile(own: Explorer, account: string): Promise<void> {
  const rows = await own.listAll('account/get-account-tx', { account })
  const [, ...table] = await readFile(own, `/account/${encodeURIComponent(account)}/records.csv`, rows)
  // Apart from a signed change, no cell is a formula for a spreadsheet.
  expect(table.filter(row => row.some((cell, at) => at !== 3 && /^[=+\-@\t\r\n]/.test(cell)))).toEqual([])
  expect(table.map(row => [row[0], row[8], row[9]])).toEqual(
    rows.map(row => [toTime(row['created_at']), row['tx_hash'], row['block']]),
  )
  for (const token of new Set(table.flatMap(([, , , , token]) => token || []))) {
    const changes = table.filter(row => row[4] === token).map(([, , , change = '']) => change)
    expect(changes.filter(change => !/^(?:0|[+-]\d+(?:\.\d+)?)$/.test(change))).toEqual([])
    const sum = changes.reduce((all, change) => all + units(change, 18), 0n)
    expect([account, token, sum]).toEqual([account, token, balanceOf(rows, account, token)])
  }
}

/** The field of a row, or a function from the row to the cell. Cells of several fields have tests of their own. */
type Cell = string | ((row: Row, at: number) => string) | undefined

const toTime = (iso: string): string => iso.replace('T', ' ').replace('Z', '')
const time: Cell = row => toTime(row['created_at'])
const rank: Cell = (_row, at) => String(at + 1)
const WHERE = { Transaction: 'tx_hash', Block: 'block' }
const OF_RECORD = { Memo: undefined, Action: 'action_name', Status: undefined, ...WHERE }
const OF_MANY = { From: undefined, To: undefined, Amount: undefined, Token: undefined, ...OF_RECORD }

const PRODUCER_STATUSES: Readonly<Record<string, string>> = {
  ...{ APPLY: 'Waiting for approval', UNAPPLY: 'Asked to leave', UNAPPLY_APPROVED: 'Removed by the administrators' },
}

/** The call of the API with the rows of a file, and its columns in order. */
const fromCall = (call: string, columns: Readonly<Record<string, Cell>>) => ({ call, columns })

/** Addresses of files of the recorded chain, one or more for each list. */
export const fileCells: Readonly<Record<string, ReturnType<typeof fromCall>>> = {
  '/account/12345/records.csv': fromCall('account/get-account-tx?account=12345', {
    ...{ 'Time (UTC)': time, Direction: undefined, Counterparty: undefined, Change: undefined, Token: undefined },
    ...OF_RECORD,
  }),
  '/contract/exchange.iost/records.csv': fromCall('contract/get-contract-tx?contract=exchange.iost', {
    ...{ 'Time (UTC)': time, ...OF_MANY },
  }),
  '/token/contribute/movements.csv': fromCall('token/get-token-tx?token=contribute', {
    ...{ 'Time (UTC)': time, ...OF_MANY },
  }),
  '/blocks.csv': fromCall('base/get-block-list', {
    Block: 'number',
    'Time (UTC)': ({ time }) => toTime(new Date(Number(BigInt(time) / 1_000_000n)).toISOString()),
    Producer: 'witness_account',
    // Every block except genesis has a base transaction.
    Transactions: ({ tx_count, number }) => String(Number(tx_count) - (number === 0 ? 0 : 1)),
    ...{ Gas: 'gas_usage', Hash: 'hash' },
  }),
  '/transactions.csv?start_block=4300&end_block=4400': fromCall(
    'base/get-transaction-list?start_block=4300&end_block=4400',
    {
      ...{ 'Time (UTC)': time, Publisher: 'publisher', Contract: 'contract', Action: 'action_name' },
      ...{ Actions: 'actions', Status: row => describeOutcome(row['status_code']).en, Gas: 'gas_fee' },
      ...WHERE,
    },
  ),
  '/contracts.csv': fromCall('base/get-contract-list', {
    ...{ Contract: 'contract_id', 'Deployed (UTC)': time, Publisher: 'publisher', Records: 'records' },
    Transaction: 'tx_hash',
  }),
  '/account/admin/sub-accounts.csv': fromCall('account/get-subaccount-list?account=admin', {
    ...{ Account: 'name', 'Created (UTC)': time, Transaction: 'tx_hash' },
  }),
  '/token/iost/holders.csv': fromCall('token/get-token-holder?token=iost', {
    ...{ Rank: rank, Owner: 'account', Available: 'balance', Token: 'symbol' },
  }),
  '/wealth.csv': fromCall('base/get-wealth-list', {
    ...{ Rank: rank, Owner: 'account', 'Total without gas pledge (IOST)': 'balance' },
    ...{ 'Available (IOST)': 'token_balance', 'Voted (IOST)': 'vote_balance', 'Frozen (IOST)': 'frozen_balance' },
  }),
  '/producer/producer000/voters.csv': fromCall('producer/get-producer-voter?producer=producer000', {
    ...{ Rank: rank, Voter: 'account', 'Votes (IOST)': 'votes' },
  }),
  '/tokens.csv': fromCall('base/get-token-list', {
    ...{ Token: 'symbol', 'Full name': 'full_name', Issuer: 'issuer', 'Created (UTC)': time, Holders: 'holder_count' },
    ...{ Supply: 'current_supply', 'Maximum supply': 'total_supply', Decimals: 'decimal' },
    Transfers: ({ can_transfer, only_issuer_can_transfer }) => {
      if (can_transfer !== true) return 'Not allowed'
      return only_issuer_can_transfer === true ? "Only with the issuer's permission" : 'Allowed'
    },
  }),
  '/nfts.csv': fromCall('nft/get-collection-list', {
    ...{ Collection: 'collection', Issuer: 'issuer', 'Created (UTC)': time, NFTs: 'issued', Owners: 'owner_count' },
    ...{ 'Maximum supply': 'total_supply', Transaction: 'tx_hash' },
  }),
  '/nft/nft_cats/owners.csv': fromCall('nft/get-collection-owners?collection=nft_cats', {
    ...{ Rank: rank, Owner: 'account', NFTs: 'count' },
  }),
  '/producers.csv': fromCall('base/get-producer-list', {
    ...{ Rank: 'ranking', Producer: 'account', Name: 'alias_en' },
    Status: ({ status, isProducer, online }) =>
      PRODUCER_STATUSES[status] ?? (isProducer !== true ? 'Not a candidate' : online === true ? 'Online' : 'Offline'),
    ...{ Location: 'loc', Site: 'url', 'Blocks made': 'block_count', 'Rewards received (IOST)': 'received_award' },
    ...{ 'Votes (IOST)': 'votes', '7-day change (IOST)': row => row['votes_change_7d'], Voters: 'voter_count' },
  }),
}

/** Checks that the cells of a file match the API's list, row by row. Returns the number of rows. */
export async function expectCells(own: Explorer, path: string): Promise<number> {
  const { call, columns } = fileCells[path] ?? fromCall('', {})
  const [action = '', query] = call.split('?')
  const rows = await own.listAll(action, Object.fromEntries(new URLSearchParams(query)))
  const [heads = [], ...table] = await readFile(own, path, rows)
  expect([path, heads]).toEqual([path, Object.keys(columns)])
  const cells = Object.values(columns)
  const expected = rows.map((row, at) =>
    cells.flatMap(cell => {
      if (cell === undefined) return []
      return [typeof cell === 'string' ? textCell(String(row[cell])) : cell(row, at)]
    }),
  )
  const compared = (row: readonly string[]) => row.filter((_cell, at) => cells[at] !== undefined)
  expect([path, table.map(compared)]).toEqual([path, expected])
  return table.length
}
