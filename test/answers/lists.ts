import { beforeAll, expect, test } from 'bun:test'
import { recordedBlocks, sentTransactions } from '#test/support/nodes/recording.ts'
import { type PlainChain, type PlainRow, plainChain } from '#test/support/oracle/plain-records.ts'
import type { Service } from '#test/support/processes/service.ts'
import { allRows, type Data, dataOf, field, parseData, rowsOf } from './answers.ts'

/** How thoroughly pages are walked: requests cost a thousand times more on one store than on the other. */
export type Thoroughness = {
  /** Lists longer than this are walked with larger pages only, and sampled with pages of 1 and 7. */
  readonly everySizeUpTo: number
  /** Lists longer than this are walked with pages of 500 only, and sampled with smaller ones. */
  readonly pagesOf20UpTo: number
}

const SIZES = [1, 7, 20, 500]

const isArray = (text: string): boolean => {
  try {
    return Array.isArray(JSON.parse(text))
  } catch {
    return false
  }
}

/** A row as the interface shows it, numbers as text. */
export const shown = (row: PlainRow, contract: boolean): Data =>
  new Map<string, Data>([
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

export const withoutAmount = (row: ReadonlyMap<string, Data>): Data =>
  new Map([...row].filter(([name]) => name !== 'amount'))

/** What a list is asked by. */
export const callOf = (
  key: string,
): { readonly action: string; readonly params: Record<string, string> } | undefined => {
  const [kind, name = '', action = ''] = key.split('/')
  if (kind === 'account') return { action: 'account-tx', params: { account: name } }
  if (kind === 'contract') return { action: 'contract-tx', params: { contract: name } }
  if (kind === 'action') return { action: 'contract-tx', params: { contract: name, action_name: action } }
  return undefined
}

/** Every list of the recorded chain against the list computed plainly from the blocks. */
export const listSuite = (service: () => Service, { everySizeUpTo, pagesOf20UpTo }: Thoroughness): void => {
  let plain: PlainChain
  beforeAll(async () => {
    plain = plainChain((await recordedBlocks()).map(({ block }) => block))
  })

  test('every list, in pages of every size and both orders, is the plain list', async () => {
    let rows = 0
    for (const [key, list] of plain.lists) {
      const call = callOf(key)
      if (call === undefined) continue
      const asc = list.map(row => shown(row, call.action === 'contract-tx'))
      for (const sort of ['asc', 'desc']) {
        const expected = sort === 'asc' ? asc : asc.toReversed()
        for (const size of SIZES) {
          if (list.length > (size < 20 ? everySizeUpTo : size < 500 ? pagesOf20UpTo : Infinity)) continue
          const got = await allRows(service(), call.action, 'transactions', { ...call.params, sort }, size)
          if (got.length !== expected.length)
            throw new Error(`${key}: ${got.length} rows, ${expected.length} expected`)
          expect(got.map(withoutAmount)).toEqual(expected)
          rows += got.length
        }
      }
    }
    expect(rows).toBeGreaterThan(400_000)
  })

  test('small pages of long lists: first, last, beyond the last and some between', async () => {
    for (const [key, list] of plain.lists) {
      const call = callOf(key)
      if (call === undefined || list.length <= everySizeUpTo) continue
      const expected = list.map(row => shown(row, call.action === 'contract-tx')).toReversed()
      for (const size of [1, 7, 20]) {
        const last = Math.ceil(list.length / size)
        for (const page of [1, 2, 3, Math.floor(last / 3), Math.floor(last / 2), last - 1, last, last + 1]) {
          const data = await dataOf(service(), call.action, { ...call.params, page, size })
          expect([field(data, 'total'), rowsOf(data, 'transactions').map(withoutAmount)]).toEqual([
            String(list.length),
            expected.slice((page - 1) * size, page * size),
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
        const expected = (byHash.get(hash) ?? []).map(row => shown(row, true))
        const found: Data[] = []
        // All rows of the transaction stand together in the lists of the contracts they name and of their parties.
        for (const key of new Set((byHash.get(hash) ?? []).map(row => `contract/${row.contract}`))) {
          const list = plain.lists.get(key)
          if (list === undefined) continue
          const at = list.findIndex(row => row.hash === hash)
          const size = 120
          const page = Math.floor(at / size) + 1
          const call = callOf(key)
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
                .map(withoutAmount),
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
