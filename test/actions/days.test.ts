import { describe, expect, test } from 'bun:test'
import { createDayEndCache, type DayEndCache } from '#actions/find/caches.ts'
import { readDayEnds } from '#actions/find/point.ts'
import { fromUnits } from '#chain/amount.ts'
import { startOfDay, toDay } from '#chain/time.ts'
import type { View } from '#store/port.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { type PlainDay, plainDays } from '#test/support/oracle/plain-days.ts'
import { plainLists } from '#test/support/oracle/plain-records.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask } from '#test/support/stores/ask.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'

type Params = Readonly<Record<string, string>>

const DAY_NS = 86_400_000_000_000n
const DAY_MS = 86_400_000
/** The recorded chain: genesis, then eight years without a block, then one day that is not over yet. */
const [GENESIS, OPEN] = ['2018-11-10', '2026-11-21']

const blocks = (await recordedBlocks()).map(({ block }) => block)

const datesFrom = (first: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => new Date(Date.parse(first) + at * DAY_MS).toISOString().slice(0, 10))

async function daysOf(action: string, params: Params) {
  const { days, page, size, total } = await ask(action, params)
  expect([page, size, total]).toEqual([1, days.length, days.length])
  return days as readonly Readonly<Record<string, unknown>>[]
}

describe.each([
  ['get-account-activity', { account: 'busyhub' }, 92],
  ['get-contract-activity', { contract: 'token.iost' }, 92],
  ['get-daily-statistics', {}, 366],
] as readonly (readonly [string, Params, number])[])('%s', (action, of, most) => {
  const datesIn = async (dates: Params) => (await daysOf(action, { ...of, ...dates })).map(({ date }) => date)

  test('without dates, the 30 days up to the last block are returned', async () => {
    const all = await daysOf(action, of)
    expect(all.map(({ date }) => date)).toEqual(datesFrom('2026-10-23', 30))
    for (const dates of [{ end_date: OPEN }, { end_date: '2031-12-31' }, { start_date: '2026-10-23' }])
      expect(await daysOf(action, { ...of, ...dates })).toEqual(all)
    // A range that ends with the last block finds the day before it by another query than other ranges.
    const before = { ...of, start_date: '2026-10-23', end_date: '2026-11-20' }
    expect(await daysOf(action, before)).toEqual(all.slice(0, -1))
    expect(await daysOf(action, { ...of, start_date: OPEN })).toEqual(all.slice(-1))
  })

  test('days before the chain and after its last block are left out', async () => {
    expect(await datesIn({ start_date: '2018-11-01', end_date: '2018-11-12' })).toEqual(datesFrom(GENESIS, 3))
    expect(await datesIn({ start_date: '2026-11-20', end_date: '2026-12-24' })).toEqual(['2026-11-20', OPEN])
    expect(await datesIn({ start_date: '9999-01-01', end_date: '9999-03-31' })).toEqual([])
    expect(await datesIn({ end_date: '0000-01-01' })).toEqual([])
  })

  test('an invalid date and a range that is too long are refused with the remedy', async () => {
    const refused = async (dates: Params) => {
      const { kind, en } = await refusal(daysOf(action, { ...of, ...dates }))
      return [kind, en]
    }
    for (const date of ['2026-02-29', '2026-13-01', '2026-1-1', '20261121', '2026-11-21T00:00:00Z', '', 'today', '１'])
      expect(await refused({ start_date: date })).toEqual(['bad_request', expect.stringContaining("'start_date'")])
    const [late = '', first = ''] = [most, most - 1].map(days =>
      new Date(Date.parse(OPEN) - days * DAY_MS).toISOString().slice(0, 10),
    )
    expect(await refused({ start_date: late })).toEqual([
      'bad_request',
      `The range from ${late} to ${OPEN} has ${most + 1} days; at most ${most} are allowed: split it with 'start_date' and 'end_date'.`,
    ])
    expect((await datesIn({ start_date: first })).length).toBe(most)
  })
})

describe('activity', () => {
  test('each day of every account, contract and action matches a count of its rows', async () => {
    const asked = new Map<string, number>()
    for (const [list, rows] of await plainLists()) {
      const [kind = '', name = '', action_name] = list.split('/')
      const isAccount = kind === 'account'
      if (!isAccount && kind !== 'contract' && kind !== 'action') continue
      const of = isAccount
        ? { account: name }
        : { contract: name, ...(action_name === undefined ? {} : { action_name }) }
      const counts = new Map<string, number>()
      for (const { time } of rows) {
        const date = new Date(Number(time / DAY_NS) * DAY_MS).toISOString().slice(0, 10)
        counts.set(date, (counts.get(date) ?? 0) + 1)
      }
      for (const dates of [datesFrom(GENESIS, 92), datesFrom('2026-11-18', 4)]) {
        const range = { start_date: dates[0] ?? '', end_date: dates.at(-1) ?? '' }
        const days = await daysOf(isAccount ? 'get-account-activity' : 'get-contract-activity', { ...of, ...range })
        const expected = dates.map(date => ({ date, complete: date !== OPEN, records: counts.get(date) ?? 0 }))
        if (!Bun.deepEquals(days, expected, true)) expect([list, days]).toEqual([list, expected])
      }
      asked.set(kind, (asked.get(kind) ?? 0) + 1)
    }
    expect(Math.min(...asked.values())).toBeGreaterThan(20)
  })

  test('owners and actions without a row have days with none', async () => {
    const none = [
      await daysOf('get-account-activity', { account: '0' }),
      await daysOf('get-contract-activity', { contract: 'token.iost', action_name: 'nosuchaction' }),
    ]
    for (const days of none) expect(days.map(({ records }) => records)).toEqual(Array(30).fill(0))
  })
})

describe('get-daily-statistics', () => {
  const plain = plainDays(blocks)
  const genesis = plain.get(GENESIS) as PlainDay
  /** A day without blocks has only the votes of the day before. */
  const quiet: PlainDay = {
    ...{ ...genesis, blocks: 0, transactions: 0, failed: 0, actions: 0, movements: 0, new_accounts: 0 },
    ...{ new_contracts: 0, gas_usage: 0n, iost_moved: 0n, ram_fees: 0n, highest_tps: 0 },
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

  test('days with blocks match a count of the blocks, and the current one has the votes and RAM prices of the overview', async () => {
    expect([...plain.keys()]).toEqual([GENESIS, OPEN])
    for (const [date, day] of plain) {
      const rows = await daysOf('get-daily-statistics', { start_date: date, end_date: date })
      expect(rows.map(withoutPrices)).toEqual([shown(date, day)])
    }
    const { ram_buy_price, ram_sell_price, all_votes: votes } = await ask('get-overview')
    expect(await daysOf('get-daily-statistics', { start_date: OPEN })).toMatchObject([
      { ram_buy_price, ram_sell_price, votes },
    ])
  })

  test.each([
    [GENESIS, 366],
    ['2018-11-11', 1],
    ['2019-02-27', 3],
    ['2024-02-28', 3],
    ['2026-11-20', 1],
  ] as const)(
    'from %s, %p days without blocks have zeros and the prices and votes of the day before',
    async (start, count) => {
      const [{ ram_buy_price, ram_sell_price } = {}] = await daysOf('get-daily-statistics', {
        start_date: GENESIS,
        end_date: GENESIS,
      })
      const dates = datesFrom(start, count)
      const rows = await daysOf('get-daily-statistics', { start_date: start, end_date: dates.at(-1) ?? '' })
      expect(rows).toEqual(
        dates.map(date => ({ ...shown(date, date === GENESIS ? genesis : quiet), ram_buy_price, ram_sell_price })),
      )
    },
  )
})

describe('ends of days', async () => {
  const store = await loadedStore()
  const [first, latest] = [toDay(blocks[0]?.time ?? 0n), toDay(blocks.at(-1)?.time ?? 0n)]
  const days = [first - 1, first, first + 1, latest - 1, latest, latest + 1]
  const expected = days.map(day => blocks.findLastIndex(({ time }) => time < startOfDay(day)))

  /** The ends that are found in a view, and the number of blocks read to find them. */
  const endsIn = async (dayEnds: DayEndCache) =>
    store.read(async view => {
      let reads = 0
      const counted: View = {
        ...view,
        get: (index, id) => {
          reads += 1
          return view.get(index, id)
        },
        getMany: (index, ids) => {
          reads += ids.length
          return view.getMany(index, ids)
        },
      }
      return { ends: await readDayEnds({ view: counted, dayEnds }, days), reads }
    })

  test('they match the blocks, and are searched only once', async () => {
    const cache = createDayEndCache()
    const found = await endsIn(cache)
    expect(found.ends).toEqual(expected)
    expect(found.reads).toBeGreaterThan(10)
    expect(await endsIn(cache)).toEqual({ ends: expected, reads: 0 })
  })

  test('cached ones are used for later heights of the same chain, and not for another chain or an earlier height', async () => {
    const { at } = await store.read(async view => ({ at: view.at }))
    const cachedAt = async (height: number, hash: string) => {
      const cache = createDayEndCache()
      // A wrong end shows that the answer is from the cache.
      cache.keep({ at: { ...at, height, hash } } as View, new Map(days.map(day => [day, 7])))
      return endsIn(cache)
    }
    const before = at.height - 10
    expect(await cachedAt(before, blocks[before]?.hash ?? '')).toEqual({ ends: days.map(() => 7), reads: 1 })
    expect((await cachedAt(before, 'another chain')).ends).toEqual(expected)
    expect((await cachedAt(at.height + 1, at.hash)).ends).toEqual(expected)
  })
})
