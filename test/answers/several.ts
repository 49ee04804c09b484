import { expect, test } from 'bun:test'
import { oracle, recordedBlocks } from '#test/support/nodes/recording.ts'
import type { Service } from '#test/support/processes/service.ts'
import { dataOf, field, parseData, rowsOf } from './answers.ts'

/** A valid hash of 32 bytes that no recorded transaction has. */
const NOWHERE = 'FDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC'

/** The `data` of a call of the interface. */
async function asked(service: Service, path: string) {
  const response = await service.ask(path, { headers: { 'x-api-key': service.key } })
  expect(response.status).toBe(200)
  return field(parseData(await response.text()), 'data') ?? null
}

/** Answers about several things and the list of blocks, compared with answers about single things. */
export function severalSuite(service: () => Service): void {
  test('get-balances: fifty answers at once match single answers, in the requested order, with null among them', async () => {
    const names = [...(await oracle()).accounts.keys()].slice(0, 47)
    const all = ['nosuchacc', ...names, 'token.iost', names[0] ?? '']
    const data = await asked(service(), `/api/account/get-balances?accounts=${all.join(',')}`)
    const entries = rowsOf(data, 'balances')
    expect(entries.map(entry => field(entry, 'account') ?? null)).toEqual([null, ...all.slice(1)])
    for (const [at, entry] of entries.entries()) {
      if (at === 0) continue
      const one = await dataOf(service(), 'account-balance', { account: all[at] ?? '' })
      expect([field(entry, 'balance'), field(entry, 'frozen_balance')]).toEqual([
        field(one, 'balance'),
        field(one, 'frozen_balance', 'total'),
      ])
    }
  })

  test('get-transactions: fifty answers at once match single answers, with base transactions and null among them', async () => {
    const hashes = (await recordedBlocks())
      .flatMap(({ block }) => block.transactions)
      .filter((_tx, at) => at % 1_300 === 0)
      .map(({ hash }) => hash)
      .slice(0, 48)
    const base = (await recordedBlocks())[2400]?.block.transactions[0]?.hash ?? ''
    const all = [NOWHERE, ...hashes, base]
    const data = await asked(service(), `/api/transaction/get-transactions?tx_hashes=${all.join(',')}`)
    const [first, ...entries] = rowsOf(data, 'transactions')
    expect(first ?? null).toBe(null)
    for (const [at, entry] of entries.entries())
      expect<unknown>(entry).toEqual(await dataOf(service(), 'transaction-detail', { tx_hash: all[at + 1] ?? '' }))
    expect(entries.length).toBe(all.length - 1)
  })

  test('get-transaction-records: fifty answers at once match single answers, with base transactions among them', async () => {
    const hashes = (await recordedBlocks())
      .flatMap(({ block }) => block.transactions)
      .filter((_tx, at) => at % 1_200 === 0)
      .map(({ hash }) => hash)
      .slice(0, 48)
    const base = (await recordedBlocks())[1200]?.block.transactions[0]?.hash ?? ''
    const of = async (tx_hashes: string) =>
      rowsOf(await asked(service(), `/api/transaction/get-transaction-records?tx_hashes=${tx_hashes}`), 'records')
    const rows: unknown[] = []
    for (const hash of [...hashes, base]) rows.push(...(await of(hash)))
    expect(rows.length).toBeGreaterThan(hashes.length)
    expect<unknown>(await of([...hashes, base].join(','))).toEqual(rows)
  })

  test('get-block-list: pages join, ranges hold, and each row matches its block', async () => {
    const part = { start_block: 4000, end_seq: 4_300, sort: 'asc' }
    const whole = await asked(service(), `/api/base/get-block-list?${query({ ...part, size: 500 })}`)
    const rows = rowsOf(whole, 'blocks')
    expect(rows.map(row => field(row, 'number'))).toEqual(Array.from({ length: 300 }, (_, at) => String(4_000 + at)))
    const joined: unknown[] = []
    for (let page = 1; page <= 43; page++)
      joined.push(
        ...rowsOf(await asked(service(), `/api/base/get-block-list?${query({ ...part, page, size: 7 })}`), 'blocks'),
      )
    expect(joined).toEqual([...rows])
    for (const row of rows.filter((_row, at) => at % 30 === 0)) {
      const one = await dataOf(service(), 'block-detail', { number: String(field(row, 'number')) })
      for (const name of ['hash', 'time', 'witness', 'gas_usage', 'tx_count'])
        expect(field(row, name)).toBe(field(one, 'block', name))
      expect(field(row, 'witness_account')).toBe(field(one, 'witness_account'))
      const time = String(field(row, 'time'))
      const at = await asked(service(), `/api/base/get-block-list?${query({ start_time: time, end_time: time })}`)
      expect(rowsOf(at, 'blocks')).toContainEqual(row)
    }
  })
}

const query = (params: Readonly<Record<string, string | number>>): string =>
  Object.entries(params)
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
