import { beforeAll, expect, test } from 'bun:test'
import { recordedBlocks, sentTransactions } from '#test/support/nodes/recording.ts'
import { listCall } from '#test/support/oracle/list-call.ts'
import { type PlainChain, type PlainRow, plainChain } from '#test/support/oracle/plain-records.ts'
import type { Service } from '#test/support/processes/service.ts'
import { allRows, type Data, dataOf, field, parseData, rowsOf } from './answers.ts'

/** How thoroughly pages are walked: requests cost a thousand times more on one store than on the other. */
export type Thoroughness = {
  /** Lists longer than this are walked with larger pages only, and sampled with pages of 1 and 7. */
  readonly everySizeUpTo: number
  /** Lists longer than this are walked with pages of 500 only, and sampled with smaller ones. */
  readonly pagesOf20UpTo: number
  /** Of the lists that are walked in every size, each n-th is walked in the sizes 1 and 7; absent: all. */
  readonly smallOf?: number
}

/**
 * Sizes of pages and the two orders. Lists longer than this are walked in each size and in each order, but not in every
 * size in every order: with pages of 500 from the first row to the last, with smaller ones from the last to the first.
 */
const EVERY_WAY_UP_TO = 1_000
const WAYS = [1, 7, 20, 500].flatMap(size => (['asc', 'desc'] as const).map(sort => ({ size, sort })))

/** The ways in which a list of this length is walked from end to end. */
const waysOf = (length: number, { everySizeUpTo, pagesOf20UpTo }: Thoroughness): typeof WAYS =>
  WAYS.filter(
    ({ size, sort }) =>
      length <= (size < 20 ? everySizeUpTo : size < 500 ? pagesOf20UpTo : Infinity) &&
      (length <= EVERY_WAY_UP_TO || (sort === 'asc') === (size === 500)),
  )

/** First pages, last ones, the one beyond the last, and some between. */
const samplePages = (last: number): ReadonlySet<number> =>
  new Set(
    [1, 2, 3, Math.floor(last / 3), Math.floor(last / 2), last - 1, last, last + 1].filter(page => page > 0),
  )

const isArray = (text: string): boolean => {
  try {
    return Array.isArray(JSON.parse(text))
  } catch {
    return false
  }
}

/** A row as the interface shows it, numbers as text; `seq` is its number in the list. */
export const shown = (row: PlainRow, contract: boolean, seq: number): ReadonlyMap<string, Data> =>
  new Map<string, Data>([
    ['seq', String(seq)],
    ...(contract ? [['contract', row.contract] as const] : []),
    ['action_name', row.action],
    ['data', isArray(row.data) ? parseData(row.data) : [row.data]],
    ['block', String(row.height)],
    ['tx_hash', row.hash],
    ['from', row.from],
    ['to', row.to],
    ['created_at', new Date(Number(row.time / 1_000_000n)).toISOString()],
    ['index', String(row.index)],
    ['return', row.returned],
    ['status_code', row.status],
  ])

const without = (field: string, row: ReadonlyMap<string, Data>): ReadonlyMap<string, Data> =>
  new Map([...row].filter(([name]) => name !== field))
export const withoutAmount = (row: ReadonlyMap<string, Data>): ReadonlyMap<string, Data> =>
  without('amount', row)

/** Every list of the recorded chain against the list computed plainly from the blocks. */
export const listSuite = (service: () => Service, thoroughness: Thoroughness): void => {
  let plain: PlainChain
  beforeAll(async () => {
    plain = plainChain((await recordedBlocks()).map(({ block }) => block))
  })

  test('every list, in pages of every size and both orders, is the plain list', async () => {
    let rows = 0
    let ofTwo = 0
    let short = 0
    for (const [key, list] of plain.lists) {
      const call = listCall(key)
      if (call === undefined) continue
      // Most lists are of an account and a token or an action: each has its turn in the test of the action.
      if (/^(?:moved|called)\//.test(key) && ofTwo++ % 10 !== 0) continue
      const asc = list.map((row, at) => shown(row, call.action !== 'account-tx', at + 1))
      const hasSmall = short++ % (thoroughness.smallOf ?? 1) === 0
      for (const { size, sort } of waysOf(list.length, thoroughness)) {
        if (size < 20 && !hasSmall) continue
        const expected = sort === 'asc' ? asc : asc.toReversed()
        const got = await allRows(service(), call.action, 'transactions', { ...call.params, sort }, size)
        if (got.length !== expected.length)
          throw new Error(`${key}: ${got.length} rows, ${expected.length} expected`)
        expect(got.map(withoutAmount)).toEqual(expected)
        rows += got.length
      }
    }
    expect(rows).toBeGreaterThan(400_000)
  })

  test('pages of sizes and orders in which a list is not walked: first, last, beyond the last and some between', async () => {
    for (const [key, list] of plain.lists) {
      const call = listCall(key)
      if (call === undefined || list.length <= thoroughness.everySizeUpTo) continue
      const walked = new Set(waysOf(list.length, thoroughness))
      const asc = list.map((row, at) => ({ row, seq: at + 1 }))
      const desc = asc.toReversed()
      // The smallest sizes in one order; the last rows come first unless a caller asks for another order.
      for (const way of WAYS.filter(({ size, sort }) => size >= 20 || sort === 'desc')) {
        if (walked.has(way)) continue
        const { size, sort } = way
        const [order, named] = sort === 'asc' ? [asc, { sort }] : [desc, {}]
        for (const page of samplePages(Math.ceil(list.length / size))) {
          const data = await dataOf(service(), call.action, { ...call.params, ...named, page, size })
          expect([field(data, 'total'), rowsOf(data, 'transactions').map(withoutAmount)]).toEqual([
            String(list.length),
            order
              .slice((page - 1) * size, page * size)
              .map(({ row, seq }) => shown(row, call.action !== 'account-tx', seq)),
          ])
        }
      }
    }
  })

  test('special transactions of the log, one by one', async () => {
    const sent = await sentTransactions()
    const byHash = new Map<string, PlainRow[]>()
    for (const row of plain.rows) byHash.set(row.hash, [...(byHash.get(row.hash) ?? []), row])
    const chosen = [
      'twins',
      'fail',
      'zero-action',
      'no-action',
      'many',
      'nested',
      'cross',
      'emit',
      'vault',
      'pay',
    ]
    let looked = 0
    for (const part of chosen)
      for (const { hash, publisher, block } of sent.filter(({ kind }) => kind.includes(part)).slice(0, 12)) {
        if (block === undefined) continue
        const expected = (byHash.get(hash) ?? []).map(row => without('seq', shown(row, true, 0)))
        const found: Data[] = []
        // All rows of the transaction stand together in the lists of the contracts they name and of their parties.
        for (const key of new Set((byHash.get(hash) ?? []).map(row => `contract/${row.contract}`))) {
          const list = plain.lists.get(key)
          if (list === undefined) continue
          const at = list.findIndex(row => row.hash === hash)
          const size = 120
          const page = Math.floor(at / size) + 1
          const call = listCall(key)
          for (const next of [page, page + 1]) {
            const data = await dataOf(service(), 'contract-tx', {
              ...call?.params,
              sort: 'asc',
              page: next,
              size,
            })
            found.push(
              ...rowsOf(data, 'transactions')
                .filter(row => row.get('tx_hash') === hash)
                .map(row => without('seq', withoutAmount(row))),
            )
          }
        }
        const byIndex = (a: Data, b: Data): number => Number(field(a, 'index')) - Number(field(b, 'index'))
        const inLists = expected.filter(row => plain.lists.has(`contract/${field(row, 'contract')}`))
        expect(found.sort(byIndex)).toEqual(inLists.sort(byIndex))
        const detail = await dataOf(service(), 'transaction-detail', { tx_hash: hash })
        expect([field(detail, 'block_number'), field(detail, 'transaction', 'publisher')]).toEqual([
          String(block),
          publisher,
        ])
        looked++
      }
    expect(looked).toBeGreaterThan(60)
  })

  test('amount is what really moved, on movements of token.iost and their actions only', async () => {
    const list = plain.lists.get('contract/token.iost') ?? []
    const rows = await allRows(
      service(),
      'contract-tx',
      'transactions',
      { contract: 'token.iost', sort: 'asc' },
      500,
    )
    const moves = new Set(['transfer', 'transferFreeze', 'issue', 'destroy'])
    expect(rows.length).toBe(list.length)
    for (const row of rows) {
      const moved = row.get('status_code') === 'SUCCESS' && moves.has(String(row.get('action_name')))
      if (row.has('amount') !== moved) throw new Error(`amount of ${row.get('tx_hash')} ${row.get('index')}`)
      if (!moved) continue
      const data = row.get('data') as readonly string[]
      const said =
        data[row.get('action_name') === 'issue' || row.get('action_name') === 'destroy' ? 2 : 3] ?? ''
      const amount = String(row.get('amount'))
      expect(amount).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/)
      // The signer may have written zeros around it or more decimals than the token has.
      expect(
        said.replace(/^0+(?=\d)/, '').startsWith(amount.replace(/^0\./, said.startsWith('.') ? '.' : '0.')),
      ).toBe(true)
    }
  })
}
