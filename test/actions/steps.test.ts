import { describe, expect, test } from 'bun:test'
import { fromUnits, toUnits } from '#chain/amount.ts'
import { toIso } from '#chain/time.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { spokenNode } from '#test/support/nodes/spoken-node.ts'
import { plainHeld, plainPast } from '#test/support/oracle/plain-past.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { readWholeCsv } from '#test/support/read-csv.ts'
import { refusal } from '#test/support/refusal.ts'
import { seeded } from '#test/support/seeded.ts'
import { ask } from '#test/support/stores/ask.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'

/** Lists of days, weeks and months: balances, rewards and supplies. */

type Params = Readonly<Record<string, string>>
type Step = Readonly<Record<string, string>>

const DAY_MS = 86_400_000
const blocks = (await recordedBlocks()).map(({ block }) => block)
const past = plainPast(blocks)
const ids = [...past.changes.keys()]
const end = blocks.length - 1
const decimals = new Map<string, number>()
for (const { symbol, decimal } of (await ask('get-base-token-list', { size: '500' })).tokens)
  decimals.set(symbol, decimal)

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
const nextDay = (date: string): string => dateOf(Date.parse(date) + DAY_MS)
/** The last block before a UTC day. */
const heightBefore = (date: string): number =>
  blocks.findLastIndex(({ time }) => time < BigInt(Date.parse(date)) * 1_000_000n)
/** The last day of the chain and the one before it. */
const last = toIso(blocks.at(-1)?.time ?? 0n).slice(0, 10)
const first = dateOf(Date.parse(last) - DAY_MS)

/** Units of the smallest possible fraction of a token. */
const units = (text: string | undefined): bigint => toUnits(text ?? '0', 18)
const sumOf = (rows: readonly Step[], name: string): bigint => rows.reduce((sum, row) => sum + units(row[name]), 0n)
/** The balance of an owner after a block, frozen amounts included. */
function heldAt(id: string, height: number): string {
  const { available, frozen } = plainHeld(past, id, height)
  return fromUnits(available + frozen, decimals.get(id.slice(0, id.indexOf('/'))) ?? 0)
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

  test.each(['busyhub', 'admin', 'vote.iost', 'whale_01'])(
    '%s, by day: each amount matches a replay',
    async account => {
      const asked = { account, step: 'day', start_date: first, end_date: last }
      const { changes, total } = await ask('get-balance-history', { ...asked, sort: 'asc', size: '500' })
      expect(total).toBe(changes.length)
      for (const row of changes) {
        const [before, after] = [heightBefore(row.date), heightBefore(nextDay(row.date))]
        const own = (past.changes.get(`iost/${account}`) ?? []).filter(
          ({ height }) => height > before && height <= after,
        )
        const sum = (sign: bigint) =>
          fromUnits(
            own.reduce((all, { change }) => (change * sign > 0n ? all + change * sign : all), 0n),
            8,
          )
        expect([row.date, row.opening, row.in, row.out, row.closing]).toEqual([
          row.date,
          heldAt(`iost/${account}`, before),
          sum(1n),
          sum(-1n),
          heldAt(`iost/${account}`, after),
        ])
      }
      const { changes: newest } = await ask('get-balance-history', { ...asked, size: '1' })
      expect(newest).toEqual(changes.slice(-1))
    },
  )

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
        expect([changes.at(0).opening, changes.at(-1).closing, changes.at(-1).complete]).toEqual([
          heldAt(`iost/${account}`, from - 1),
          heldAt(`iost/${account}`, to),
          false,
        ])
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
] as const)(
  '%s: a week or month with a requested day is whole, also if that day is before the first block or after the last',
  async (action, asked, list) => {
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
  },
)

test.each(['day', 'month'])(
  'get-reward-history by %s: each step has the sums of its rows and of the contribute',
  async step => {
    let sums = 0n
    for (const { account: producer } of (await ask('get-producer-list', { size: '100' })).producers) {
      const rows: readonly Step[] = (await ask('get-reward-history', { producer, size: '500' })).rewards
      const steps: readonly Step[] = (await ask('get-reward-history', { producer, size: '500', step })).rewards
      const named = (name: string) => rows.filter(row => row['action_name'] === name)
      const all = [
        sumOf(named('exchangeIOST'), 'producer_amount'),
        sumOf(named('candidateWithdraw'), 'producer_amount'),
        sumOf(rows, 'added_for_voters'),
        sumOf(rows, 'taken_by_voters'),
      ]
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
  },
)

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

  test.each(['day', 'week', 'month'])(
    'by %s: issued and destroyed amounts add up, the last row is the current supply',
    async step => {
      for (const token of tokens) {
        const { steps } = await ask('get-supply-history', { token, step })
        for (const [at, row] of steps.entries())
          if (at > 0)
            expect(units(row.supply)).toBe(units(steps[at - 1].supply) + units(row.issued) - units(row.destroyed))
        const { current_supply: supply, holder_count: holders } = await ask('get-token-detail', { token })
        expect([token, steps.at(-1)]).toMatchObject([token, { supply, holders, complete: false }])
      }
    },
  )

  test('each day: supply and holders match a replay', async () => {
    for (const token of plain)
      for (const { date, supply, holders } of (await ask('get-supply-history', { token })).steps) {
        const height = heightBefore(nextDay(date))
        const held = (own.get(token) ?? []).filter(id => plainHeld(past, id, height).available > 0n)
        expect([token, date, units(supply), holders]).toEqual([token, date, supplyAt(token, height), held.length])
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
      expect([units(steps.at(-1).supply), steps[0].complete, steps.at(-1).complete]).toEqual([
        supplyAt(token, to),
        false,
        false,
      ])
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
    for (const none of [
      { start_block: '99999998' },
      { start_block: '0', end_time: '0' },
      { start_block: '4000', end_date: '2020-01-01' },
    ])
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
