import { expect } from 'bun:test'
import { readWholeCsv } from '../support/read-csv.ts'
import { fileCells } from './file-cells.ts'
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

/** The cells of a file without its header line. */
export const tableOf = async (response: Response): Promise<readonly (readonly string[])[]> =>
  readWholeCsv(await response.text()).slice(1)

/** All rows of a list of the API. */
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
    rows.map((row, at) => cells.flatMap(cell => (cell === undefined ? [] : [cell(row, at)]))),
  ])
  return table.length
}
