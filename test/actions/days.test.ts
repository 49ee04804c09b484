import { describe, expect, test } from 'bun:test'
import { createDayEndCache, type DayEndCache } from '#actions/find/caches.ts'
import { searchDayEnds } from '#actions/find/point.ts'
import { formatUnits, toUnits } from '#chain/amount.ts'
import { startOfDay, toDay, toIso } from '#chain/time.ts'
import type { View } from '#store/port.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { spokenNode } from '#test/support/nodes/spoken-node.ts'
import { type PlainDay, plainDays } from '#test/support/oracle/plain-days.ts'
import { plainHeld, plainPast } from '#test/support/oracle/plain-past.ts'
import { plainLists } from '#test/support/oracle/plain-records.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { readWholeCsv } from '#test/support/read-csv.ts'
import { refusal } from '#test/support/refusal.ts'
import { seeded } from '#test/support/seeded.ts'
import { ask } from '#test/support/stores/ask.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'

type Params = Readonly<Record<string, string>>

const DAY_MS = 86_400_000
/** The recorded chain: genesis, then eight years without a block, then one day that is not over yet. */
const [GENESIS, OPEN] = ['2018-11-10', '2026-11-21']

const blocks = (await recordedBlocks()).map(({ block }) => block)

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
const datesFrom = (first: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => dateOf(Date.parse(first) + at * DAY_MS))

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
    const expectRefused = async (start_date: string, en: string) =>
      expect(await refusal(daysOf(action, { ...of, start_date }))).toMatchObject({ kind: 'bad_request', en })
    for (const date of ['2026-02-29', '2026-13-01', '2026-1-1', '20261121', '2026-11-21T00:00:00Z', '', 'today', '１'])
      await expectRefused(date, expect.stringContaining("'start_date'"))
    const [late = '', first = ''] = [most, most - 1].map(days => dateOf(Date.parse(OPEN) - days * DAY_MS))
    const limit = `has ${most + 1} days; at most ${most} are allowed: split it with 'start_date' and 'end_date'.`
    await expectRefused(late, `The range from ${late} to ${OPEN} ${limit}`)
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
        const date = toIso(time).slice(0, 10)
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

  test.each([
    ['get-account-activity', { account: '0' }],
    ['get-contract-activity', { contract: 'token.iost', action_name: 'nosuchaction' }],
  ] as const)('%s: without a row, days have none', async (action, of) => {
    expect((await daysOf(action, of)).map(({ records }) => records)).toEqual(Array(30).fill(0))
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
    gas_usage: formatUnits(gas_usage, 2),
    iost_moved: formatUnits(iost_moved, 8),
    ram_fee: formatUnits(ram_fees, 8),
    votes: formatUnits(votes, 8),
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
  ] as const)('from %s, %p days without blocks have zeros and the prices and votes before', async (start, count) => {
    const [{ ram_buy_price, ram_sell_price } = {}] = await daysOf('get-daily-statistics', {
      start_date: GENESIS,
      end_date: GENESIS,
    })
    const dates = datesFrom(start, count)
    const rows = await daysOf('get-daily-statistics', { start_date: start, end_date: dates.at(-1) ?? '' })
    expect(rows).toEqual(
      dates.map(date => ({ ...shown(date, date === GENESIS ? genesis : quiet), ram_buy_price, ram_sell_price })),
    )
  })
})

describe('ends of days', async () => {
  const store = await loadedStore()
  const [first, latest] = [toDay(blocks[0]?.time ?? 0n), toDay(blocks.at(-1)?.time ?? 0n)]
  const days = [first - 1, first, first + 1, latest - 1, latest, latest + 1]
  const expected = days.map(day => blocks.findLastIndex(({ time }) => time < startOfDay(day)))

  const endsIn = async (dayEnds: DayEndCache) =>
    store.read(async view => {
      let reads = 0
      const get: View['get'] = (...of) => {
        reads += 1
        return view.get(...of)
      }
      const blockTimes: View['blockTimes'] = heights => {
        reads += heights.length
        return view.blockTimes(heights)
      }
      return { ends: await searchDayEnds({ view: { ...view, get, blockTimes }, dayEnds }, days), reads }
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

/** Lists of days, weeks and months: balances, rewards and supplies. */
type Step = Readonly<Record<string, string>>

const past = plainPast(blocks)
const ids = [...past.changes.keys()]
const end = blocks.length - 1
const listed: readonly { symbol: string; decimal: number }[] = (await ask('get-base-token-list', { size: '500' }))
  .tokens
const decimals = new Map(listed.map(({ symbol, decimal }) => [symbol, decimal]))

const heightBefore = (date: string): number =>
  blocks.findLastIndex(({ time }) => time < BigInt(Date.parse(date)) * 1_000_000n)
const last = toIso(blocks.at(-1)?.time ?? 0n).slice(0, 10)
const first = dateOf(Date.parse(last) - DAY_MS)

/** Units of the smallest possible fraction of a token. */
const units = (text: string | undefined): bigint => toUnits(text ?? '0', 18)
const sumOf = (rows: readonly Step[], name: string): bigint => rows.reduce((sum, row) => sum + units(row[name]), 0n)
/** The balance of an owner after a block, frozen amounts included. */
function heldAt(id: string, height: number): string {
  const { available, frozen } = plainHeld(past, id, height)
  return formatUnits(available + frozen, decimals.get(id.slice(0, id.indexOf('/'))) ?? 0)
}

describe('get-balance-history with step', () => {
  test.each([
    ['day', ids.filter((_id, at) => at % 5 === 0)],
    ['week', ids.filter((_id, at) => at % 16 === 3)],
    ['month', ids.filter((_id, at) => at % 16 === 7)],
  ] as const)('by %s: the opening plus all changes equals the closing', async (step, list) => {
    for (const id of list) {
      const [token = '', account = ''] = id.split('/')
      const asked = { account, token, step, sort: 'asc', start_date: first, end_date: last }
      const { changes } = await ask('get-balance-history', asked)
      const ends = [heldAt(id, heightBefore(changes[0].date)), heldAt(id, end)]
      expect([id, changes[0].opening, changes.at(-1).closing]).toEqual([id, ...ends])
      for (const [at, row] of changes.entries()) {
        expect(units(row.closing)).toBe(units(row.opening) + units(row.in) - units(row.out))
        if (at > 0) expect(row.opening).toBe(changes[at - 1].closing)
      }
    }
    expect(list.length).toBeGreaterThan(100)
  })

  test('an export has the columns of steps and one line for each step', async () => {
    const { ask: call, key } = serviceOn(await loadedStore())
    const asked = { module: 'account', action: 'get-balance-history', account: 'busyhub', step: 'day' }
    const query = new URLSearchParams({ ...asked, apikey: key, start_date: first, end_date: last, format: 'csv' })
    const [heads, ...rows] = readWholeCsv(await (await call(`/api/?${query}`)).text())
    expect(heads).toEqual(['date', 'complete', 'opening', 'in', 'out', 'closing'])
    expect(rows.map(([date, complete]) => `${date} ${complete}`)).toEqual([`${last} false`, `${first} true`])
  })

  test('days in the future have no rows, with an end date and without one', async () => {
    const asked = { account: 'busyhub', step: 'day', start_date: '2099-01-01' }
    for (const end of [{}, { end_date: '2099-01-02' }])
      expect(await ask('get-balance-history', { ...asked, ...end })).toMatchObject({ changes: [], total: 0 })
  })

  test('a range of blocks or times ends within steps: the figures are those of the part within it', async () => {
    const middle = heightBefore(last) + 200
    for (const account of ['busyhub', 'admin', 'vote.iost'])
      for (const [from, to] of [
        [Math.max(1, middle - 300), middle],
        [middle + 1, end],
      ] as const) {
        const asked = { account, step: 'day', sort: 'asc' }
        const range = { start_block: String(from), end_block: String(to) }
        const { changes } = await ask('get-balance-history', { ...asked, ...range })
        expect(changes.at(0).opening).toBe(heldAt(`iost/${account}`, from - 1))
        expect(changes.at(-1)).toMatchObject({ closing: heldAt(`iost/${account}`, to), complete: false })
        const times = { start_time: String(blocks[from]?.time), end_time: String(blocks[to]?.time) }
        expect((await ask('get-balance-history', { ...asked, ...times })).changes).toEqual(changes)
      }
    const made = async (range: Params) => {
      const asked = { producer: 'prod_02', step: 'month', start_date: '2026-11-01', ...range }
      return sumOf((await ask('get-reward-history', asked)).rewards, 'contribute_made')
    }
    const [early, late] = [await made({ end_block: String(middle) }), await made({ start_block: String(middle + 1) })]
    expect(early + late).toBe(await made({}))
  })
})

test.each([
  ['get-balance-history', { account: 'admin' }, 'changes'],
  ['get-reward-history', { producer: 'prod_02' }, 'rewards'],
  ['get-supply-history', { token: 'iost' }, 'steps'],
] as const)('%s: a week or month with a requested day is whole, also beyond the chain', async (action, asked, list) => {
  // The first block is of Saturday, 2018-11-10, the last one of Saturday, 2026-11-21.
  for (const [step, start_date, end_date, dates] of [
    ['week', '2018-11-05', '2018-11-09', ['2018-11-05']],
    ['month', '2018-10-31', '2018-11-01', ['2018-11-01']],
    ['week', '2018-11-04', '2018-11-04', []],
    ['week', '2026-11-22', '2026-11-24', ['2026-11-16']],
    ['month', '2026-11-30', '2026-12-01', ['2026-11-01']],
    ['week', '2026-11-23', '2026-11-24', []],
    ['day', '2026-11-22', '2026-11-24', []],
  ] as const) {
    const rows: readonly Step[] = (await ask(action, { ...asked, step, start_date, end_date }))[list]
    expect([step, start_date, rows.map(({ date }) => date)]).toEqual([step, start_date, [...dates]] as never)
  }
})

test.each(['day', 'month'])('get-reward-history by %s: each step has the sums of its rows', async step => {
  let sums = 0n
  for (const { account: producer } of (await ask('get-producer-list', { size: '100' })).producers) {
    const rows: readonly Step[] = (await ask('get-reward-history', { producer, size: '500' })).rewards
    const steps: readonly Step[] = (await ask('get-reward-history', { producer, size: '500', step })).rewards
    const named = (name: string) => rows.filter(row => row['action_name'] === name)
    const paid = ['exchangeIOST', 'candidateWithdraw'].map(name => sumOf(named(name), 'producer_amount'))
    const all = [...paid, sumOf(rows, 'added_for_voters'), sumOf(rows, 'taken_by_voters')]
    const fields = ['exchanged', 'candidate_bonus', 'added_for_voters', 'taken_by_voters']
    expect([producer, ...fields.map(field => sumOf(steps, field))]).toEqual([producer, ...all])
    const made = sumOf(steps, 'contribute_made') - sumOf(steps, 'contribute_exchanged')
    expect([producer, made]).toEqual([producer, units(heldAt(`contribute/${producer}`, end))])
    const { iost } = await ask('get-account-assets', { account: producer })
    const earned = sumOf(steps, 'candidate_bonus') + units(iost.producer_reward)
    expect([producer, sumOf(steps, 'candidate_bonus_earned')]).toEqual([producer, earned])
    sums += all.reduce((sum, each) => sum + each, 0n)
  }
  expect(sums).toBeGreaterThan(0n)
})

describe('get-supply-history', () => {
  const tokens = [...new Set(ids.map(id => id.slice(0, id.indexOf('/'))))]
  // The blocks do not contain every use of RAM.
  const plain = tokens.filter(token => token !== 'ram')
  const own = new Map(tokens.map(token => [token, ids.filter(id => id.startsWith(`${token}/`))]))
  const supplyAt = (token: string, height: number): bigint =>
    (own.get(token) ?? [])
      .flatMap(id => past.changes.get(id) ?? [])
      .reduce((sum, { height: at, change }) => (at <= height ? sum + change : sum), 0n) *
    10n ** BigInt(18 - (decimals.get(token) ?? 0))

  test.each(['day', 'week', 'month'])('by %s: amounts add up, the last row is the current supply', async step => {
    for (const token of tokens) {
      const { steps } = await ask('get-supply-history', { token, step })
      for (const [at, row] of steps.slice(1).entries())
        expect(units(row.supply)).toBe(units(steps[at].supply) + units(row.issued) - units(row.destroyed))
      const { current_supply: supply, holder_count: holders } = await ask('get-token-detail', { token })
      expect([token, steps.at(-1)]).toMatchObject([token, { supply, holders, complete: false }])
    }
  })

  test('a range of blocks or times covers exactly its changes, and adjacent steps meet', async () => {
    const random = seeded(2231)
    for (let at = 0; at < 25; at++) {
      const token = plain[Math.floor(random() * plain.length)] ?? 'iost'
      const [from = 0, to = 0] = [random(), random()].map(each => Math.floor(each * end)).toSorted((a, b) => a - b)
      const asked = { token, step: at % 2 === 0 ? 'day' : 'month' }
      const stepsOf = async (range: Params) => (await ask('get-supply-history', { ...asked, ...range })).steps
      const steps = await stepsOf({ start_block: String(from), end_block: String(to) })
      const times = { start_time: String(blocks[from]?.time), end_time: String(blocks[to]?.time) }
      expect(await stepsOf(times)).toEqual(steps)
      const gained = sumOf(steps, 'issued') - sumOf(steps, 'destroyed')
      expect([token, from, to, gained]).toEqual([token, from, to, supplyAt(token, to) - supplyAt(token, from - 1)])
      expect(units(steps.at(-1).supply)).toBe(supplyAt(token, to))
      expect([steps[0].complete, steps.at(-1).complete]).toEqual([false, false])
      const middle = Math.floor((from + to) / 2)
      const early = await stepsOf({ start_block: String(from), end_block: String(middle) })
      const late = await stepsOf({ start_block: String(middle + 1), end_block: String(to) })
      for (const name of ['issued', 'destroyed'])
        expect(sumOf(early, name) + sumOf(late, name)).toBe(sumOf(steps, name))
    }
  })

  test('an end after the chain means the end of the chain, a range after or before the chain has no rows', async () => {
    const asked = { token: 'iost', step: 'month', start_block: '1' }
    const behind = { end_block: '99999999', end_time: '2099-01-01T00:00:00Z' }
    expect(await ask('get-supply-history', { ...asked, ...behind })).toEqual(await ask('get-supply-history', asked))
    const early = { start_block: '4000', end_date: '2020-01-01' }
    for (const none of [{ start_block: '99999998' }, { start_block: '0', end_time: '0' }, early])
      expect((await ask('get-supply-history', { ...asked, ...none })).steps).toEqual([])
  })

  test('while the load is far behind, no range that begins or ends beyond it is answered', async () => {
    const deps = { node: spokenNode({}, { libBlock: 9_000 }) }
    const later = { block: '4852', time: String((blocks.at(-1)?.time ?? 0n) + 1n), date: '2026-11-22' }
    for (const [bound, text] of Object.entries(later))
      for (const name of [`start_${bound}`, `end_${bound}`]) {
        const { kind, en } = await refusal(ask('get-supply-history', { token: 'iost', [name]: text }, { deps }))
        expect([name, kind, en]).toEqual([name, 'loading', expect.stringContaining('up to block 4851 of 9000.')])
      }
  })
})
