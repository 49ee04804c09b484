import { describe, expect, test } from 'bun:test'
import { fromUnits } from '#chain/amount.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { type PlainDay, plainDays } from '#test/support/oracle/plain-days.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask } from '#test/support/stores/ask.ts'

const DAY_MS = 86_400_000
/** The recorded chain: genesis, then eight years without a block, then one day that is not over yet. */
const [GENESIS, OPEN] = ['2018-11-10', '2026-11-21']

const datesFrom = (first: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) =>
    new Date(Date.parse(first) + at * DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length),
  )

const plain = plainDays((await recordedBlocks()).map(({ block }) => block))
const NOTHING = {
  blocks: 0,
  transactions: 0,
  failed: 0,
  actions: 0,
  movements: 0,
  new_accounts: 0,
  new_contracts: 0,
  gas_usage: 0n,
  iost_moved: 0n,
  ram_fees: 0n,
  highest_tps: 0,
}
const shown = (date: string, { failed, movements, gas_usage, iost_moved, ram_fees, votes, ...rest }: PlainDay) => ({
  date,
  complete: date !== OPEN,
  ...rest,
  failed_transactions: failed,
  token_movements: movements,
  gas_usage: fromUnits(gas_usage, 2),
  iost_moved: fromUnits(iost_moved, 8),
  ram_fee: fromUnits(ram_fees, 8),
  votes: fromUnits(votes, 8),
})
const withoutPrices = ({ ram_buy_price: _buy, ram_sell_price: _sell, ...row }: Record<string, unknown>) => row
async function daysOf(params: Readonly<Record<string, string>>) {
  const { days, page, size, total } = await ask('get-daily-statistics', params)
  expect([page, size, total]).toEqual([1, days.length, days.length])
  return days as readonly Record<string, unknown>[]
}

describe('get-daily-statistics', () => {
  test('get-daily-statistics: days with blocks match a count of the blocks', async () => {
    expect([...plain.keys()]).toEqual([GENESIS, OPEN])
    for (const [date, day] of plain) {
      const rows = await daysOf({ start_date: date, end_date: date })
      expect(rows.map(withoutPrices)).toEqual([shown(date, day)])
    }
  })

  test('get-daily-statistics: votes and RAM prices of the current day match the overview', async () => {
    const overview = await ask('get-overview')
    const [{ ram_buy_price, ram_sell_price, votes } = {}] = await daysOf({ start_date: OPEN })
    expect({ ram_buy_price, ram_sell_price, all_votes: votes }).toEqual({
      ram_buy_price: overview.ram_buy_price,
      ram_sell_price: overview.ram_sell_price,
      all_votes: overview.all_votes,
    })
  })

  test('get-daily-statistics: days without blocks have zeros and the prices and votes of the day before, wherever a range begins', async () => {
    const genesis = plain.get(GENESIS) as PlainDay
    const [atGenesis] = await daysOf({ start_date: GENESIS, end_date: GENESIS })
    for (const [start, count] of [
      [GENESIS, 366],
      ['2018-11-11', 1],
      ['2019-02-27', 3],
      ['2024-02-28', 3],
      ['2026-11-20', 1],
    ] as const) {
      const dates = datesFrom(start, count)
      const rows = await daysOf({ start_date: start, end_date: dates.at(-1) ?? '' })
      expect(rows.map(withoutPrices)).toEqual(
        dates.map(date => shown(date, date === GENESIS ? genesis : { ...genesis, ...NOTHING })),
      )
      for (const row of rows)
        expect([row['ram_buy_price'], row['ram_sell_price']]).toEqual([
          atGenesis?.['ram_buy_price'],
          atGenesis?.['ram_sell_price'],
        ])
    }
  })

  test('get-daily-statistics: days before the chain and after its last block are left out', async () => {
    const datesIn = async (params: Readonly<Record<string, string>>) => (await daysOf(params)).map(({ date }) => date)
    expect(await datesIn({ start_date: '2018-11-01', end_date: '2018-11-12' })).toEqual(datesFrom(GENESIS, 3))
    expect(await datesIn({ start_date: '2026-11-20', end_date: '2026-12-24' })).toEqual(['2026-11-20', OPEN])
    expect(await datesIn({ start_date: '1970-01-01', end_date: '1970-12-31' })).toEqual([])
    expect(await datesIn({ start_date: '9999-01-01', end_date: '9999-12-31' })).toEqual([])
    expect(await datesIn({ end_date: '0000-01-01' })).toEqual([])
  })

  test('get-daily-statistics: without dates, the 30 days up to the last block are returned', async () => {
    const all = await daysOf({})
    expect(all.map(({ date }) => date)).toEqual(datesFrom('2026-10-23', 30))
    expect(await daysOf({ end_date: OPEN })).toEqual(all)
    // With an end in the future, the newest days are returned.
    expect(await daysOf({ end_date: '2031-12-31' })).toEqual(all)
    expect(await daysOf({ start_date: '2026-10-23' })).toEqual(all)
    // A range that ends with the last block finds the day before it by another query than other ranges.
    expect(await daysOf({ start_date: '2026-10-23', end_date: '2026-11-20' })).toEqual(all.slice(0, -1))
    expect(await daysOf({ start_date: OPEN })).toEqual(all.slice(-1))
  })

  test('get-daily-statistics: an invalid date, a reversed range and a range that is too long are refused with the remedy', async () => {
    const said = async (params: Readonly<Record<string, string>>) => {
      const { kind, en } = await refusal(ask('get-daily-statistics', params))
      return [kind, en]
    }
    for (const date of ['2026-02-29', '2026-13-01', '2026-1-1', '20261121', '2026-11-21T00:00:00Z', '', 'today', '１'])
      expect(await said({ start_date: date })).toEqual(['bad_request', expect.stringContaining("'start_date'")])
    expect(await said({ start_date: '2026-11-21', end_date: '2026-11-20' })).toEqual([
      'bad_request',
      "Parameter 'start_date' is 2026-11-21 and 'end_date' is 2026-11-20; the start must not be after the end.",
    ])
    const long =
      "The range from 2025-11-20 to 2026-11-21 has 367 days; at most 366 are allowed: split it with 'start_date' and 'end_date'."
    expect(await said({ start_date: '2025-11-20', end_date: OPEN })).toEqual(['bad_request', long])
    expect(await said({ start_date: '2025-11-20' })).toEqual(['bad_request', long])
    expect((await daysOf({ start_date: '2025-11-21', end_date: OPEN })).length).toBe(366)
    const { zh } = await refusal(ask('get-daily-statistics', { start_date: '2025-11-20' }))
    expect(zh).toContain('366')
  })
})
