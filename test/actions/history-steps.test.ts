import { describe, expect, test } from 'bun:test'
import { fromUnits, toUnits } from '#chain/amount.ts'
import { toIso } from '#chain/time.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { plainHeld, plainPast } from '#test/support/oracle/plain-past.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { readWholeCsv } from '#test/support/read-csv.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask } from '#test/support/stores/ask.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'

const blocks = (await recordedBlocks()).map(({ block }) => block)
const past = plainPast(blocks)
const ids = [...past.changes.keys()]

/** The last block before a UTC day. */
function heightBefore(date: string): number {
  const start = BigInt(Date.parse(date)) * 1_000_000n
  return blocks.findLastIndex(({ time }) => time < start)
}
const nextDay = (date: string): string => new Date(Date.parse(date) + 86_400_000).toISOString().slice(0, 10)

/** The last day of the chain and the one before it. */
const last = toIso(blocks.at(-1)?.time ?? 0n).slice(0, 10)
const first = new Date(Date.parse(last) - 86_400_000).toISOString().slice(0, 10)
const decimals = new Map(
  (await ask('get-base-token-list', { size: '500' })).tokens.map(
    ({ symbol, decimal }: { symbol: string; decimal: number }) => [symbol, decimal] as const,
  ),
)

/** The balance before a day and the current one, in 10^-18 of the token. */
function plainEnds(id: string, date: string): readonly bigint[] {
  const scale = 10n ** BigInt(18 - Number(decimals.get(id.slice(0, id.indexOf('/'))) ?? 0))
  return [heightBefore(date), blocks.length].map(
    last =>
      (past.changes.get(id) ?? []).reduce((sum, { height, change }) => (height <= last ? sum + change : sum), 0n) *
      scale,
  )
}

describe('get-balance-history with step', () => {
  for (const [step, list] of [
    ['day', ids],
    ['week', ids.filter((_id, at) => at % 16 === 3)],
    ['month', ids.filter((_id, at) => at % 16 === 7)],
  ] as const)
    test(`by ${step}: the opening plus all changes equals the closing, for ${list.length} balances`, async () => {
      for (const id of list) {
        const [token = '', account = ''] = id.split('/')
        const asked = { account, token, step, sort: 'asc', start_date: first, end_date: last }
        const { changes } = await ask('get-balance-history', asked)
        // Units of the smallest possible fraction of a token.
        const units = (text: string): bigint => toUnits(text, 18)
        const ends = plainEnds(id, changes[0].date)
        expect([id, units(changes[0].opening), units(changes.at(-1).closing)]).toEqual([id, ...ends])
        for (const [at, row] of changes.entries()) {
          expect(units(row.closing)).toBe(units(row.opening) + units(row.in) - units(row.out))
          if (at > 0) expect(row.opening).toBe(changes[at - 1].closing)
        }
      }
      expect(list.length).toBeGreaterThan(100)
    })

  test('by day: each amount matches a replay, in both orders and in pages', async () => {
    for (const account of ['busyhub', 'admin', 'vote.iost', 'whale_01']) {
      const asked = { account, step: 'day', start_date: first, end_date: last }
      const { changes, total } = await ask('get-balance-history', { ...asked, sort: 'asc', size: '500' })
      expect(total).toBe(changes.length)
      for (const row of changes) {
        const [start, end] = [heightBefore(row.date), heightBefore(nextDay(row.date))]
        const [before, after] = [start, end].map(height => {
          const { available, frozen } = plainHeld(past, `iost/${account}`, height)
          return available + frozen
        })
        expect([account, row.date, row.opening, row.closing]).toEqual([
          account,
          row.date,
          fromUnits(before ?? 0n, 8),
          fromUnits(after ?? 0n, 8),
        ])
        const within = (past.changes.get(`iost/${account}`) ?? []).filter(
          ({ height }) => height > start && height <= end,
        )
        const sum = (list: readonly bigint[]) => list.reduce((all, each) => all + each, 0n)
        expect(row.in).toBe(fromUnits(sum(within.flatMap(({ change }) => (change > 0n ? [change] : []))), 8))
        expect(row.out).toBe(fromUnits(sum(within.flatMap(({ change }) => (change < 0n ? [-change] : []))), 8))
      }
      const { changes: newest } = await ask('get-balance-history', { ...asked, size: '1' })
      expect(newest).toEqual(changes.slice(-1))
    }
  })

  test('an export has the columns of steps and one line for each step', async () => {
    const { ask: call, key } = serviceOn(await loadedStore())
    const asked = { module: 'account', action: 'get-balance-history', account: 'busyhub', step: 'day' }
    const query = new URLSearchParams({
      apikey: key,
      ...asked,
      start_date: first,
      end_date: last,
      format: 'csv',
    })
    const [heads, ...rows] = readWholeCsv(await (await call(`/api/?${query}`)).text())
    expect(heads).toEqual(['date', 'complete', 'opening', 'in', 'out', 'closing'])
    expect(rows.map(row => row.slice(0, 2))).toEqual([
      [last, 'false'],
      [first, 'true'],
    ])
  })

  test('days in the future have no rows, with an end date and without one', async () => {
    const asked = { account: 'busyhub', step: 'day', start_date: '2099-01-01' }
    for (const end of [{}, { end_date: '2099-01-02' }])
      expect(await ask('get-balance-history', { ...asked, ...end })).toMatchObject({ changes: [], total: 0 })
  })

  test('a week or month with a requested day is whole, also if that day is before the first block or after the last', async () => {
    for (const [action, asked, list] of [
      ['get-balance-history', { account: 'admin' }, 'changes'],
      ['get-reward-history', { producer: 'prod_02' }, 'rewards'],
      ['get-supply-history', { token: 'iost' }, 'steps'],
    ] as const) {
      const datesOf = async (step: string, start_date: string, end_date: string) =>
        (await ask(action, { ...asked, step, start_date, end_date }))[list].map(({ date }: { date: string }) => date)
      // The first block is of Saturday, 2018-11-10, the last one of Saturday, 2026-11-21.
      expect(await datesOf('week', '2018-11-05', '2018-11-09')).toEqual(['2018-11-05'])
      expect(await datesOf('month', '2018-10-31', '2018-11-01')).toEqual(['2018-11-01'])
      expect(await datesOf('week', '2018-11-04', '2018-11-04')).toEqual([])
      expect(await datesOf('week', '2026-11-22', '2026-11-24')).toEqual(['2026-11-16'])
      expect(await datesOf('month', '2026-11-30', '2026-12-01')).toEqual(['2026-11-01'])
      expect(await datesOf('week', '2026-11-23', '2026-11-24')).toEqual([])
      expect(await datesOf('day', '2026-11-22', '2026-11-24')).toEqual([])
    }
  })

  test('a range of blocks or times ends within steps: the figures are those of the part within it', async () => {
    const height = blocks.length - 1
    const [from, middle] = [Math.max(1, heightBefore(last) - 100), heightBefore(last) + 200]
    const heldAt = (account: string, at: number): string => {
      const { available, frozen } = plainHeld(past, `iost/${account}`, at)
      return fromUnits(available + frozen, 8)
    }
    for (const account of ['busyhub', 'admin', 'vote.iost'])
      for (const [start, end] of [
        [from, middle],
        [middle + 1, height],
      ] as const) {
        const asked = { account, step: 'day', sort: 'asc' }
        const { changes } = await ask('get-balance-history', {
          ...{ ...asked, start_block: String(start), end_block: String(end) },
        })
        expect(changes.at(0).opening).toBe(heldAt(account, start - 1))
        expect(changes.at(-1).closing).toBe(heldAt(account, end))
        expect(changes.at(-1).complete).toBe(false)
        const times = { start_time: String(blocks[start]?.time), end_time: String(blocks[end]?.time) }
        expect((await ask('get-balance-history', { ...asked, ...times })).changes).toEqual(changes)
      }
    const rewards = async (range: Readonly<Record<string, string>>) =>
      (await ask('get-reward-history', { producer: 'prod_02', step: 'month', ...range })).rewards
    const sumOf = (rows: readonly { readonly contribute_made: string }[]) =>
      rows.reduce((sum, { contribute_made }) => sum + toUnits(String(contribute_made), 18), 0n)
    const parts = [{ end_block: String(middle) }, { start_block: String(middle + 1) }]
    const [early = [], late = []] = await Promise.all(parts.map(part => rewards({ start_date: '2026-11-01', ...part })))
    expect(sumOf(early) + sumOf(late)).toBe(sumOf(await rewards({ start_date: '2026-11-01' })))
  })

  test('error: a range by numbers, an unknown step, too many steps and an unknown account are refused', async () => {
    const refused = async (more: Readonly<Record<string, string>>) =>
      refusal(ask('get-balance-history', { account: 'busyhub', step: 'day', ...more }))
    expect(await refused({ start_seq: '3' })).toEqual({
      kind: 'bad_request',
      en: "Parameters 'step' and 'start_seq' cannot be combined; give the range of steps by days, blocks or times.",
      zh: "参数 'step' 与 'start_seq' 不能同时使用；使用 step 时请以日期、区块或时间指定区间。",
    })
    expect(await refused({ start_date: '2018-11-01' })).toMatchObject({
      en: "The range from 2018-11-10 to 2026-11-21 has more than 400 rows with 'step' day; ask for a shorter range or a longer step.",
      zh: "2018-11-10 至 2026-11-21 按 'step' day 超过 400 行；请缩短区间或使用更长的周期。",
    })
    expect((await refused({ step: 'year' })).kind).toBe('bad_request')
    expect((await refused({ account: 'nosuchacc' })).kind).toBe('not_found')
  })
})

describe('get-reward-history with step', () => {
  for (const step of ['day', 'month'])
    test(`by ${step}: each step has the sums of its rows and of the contribute`, async () => {
      let sums = 0n
      const producers = await ask('get-producer-list', { size: '100' })
      for (const { account: producer } of producers.producers) {
        const rows = (await ask('get-reward-history', { producer, size: '500', sort: 'asc' })).rewards
        const steps = (await ask('get-reward-history', { producer, size: '500', step, sort: 'asc' })).rewards
        const sumOf = (list: readonly Record<string, string>[], field: string): bigint =>
          list.reduce((sum, row) => sum + toUnits(row[field] ?? '0', 8), 0n)
        const named = (name: string) => rows.filter((row: { action_name: string }) => row.action_name === name)
        const all = [
          sumOf(named('exchangeIOST'), 'producer_amount'),
          sumOf(named('candidateWithdraw'), 'producer_amount'),
          sumOf(rows, 'added_for_voters'),
          sumOf(rows, 'taken_by_voters'),
        ]
        expect([
          producer,
          ...['exchanged', 'candidate_bonus', 'added_for_voters', 'taken_by_voters'].map(field => sumOf(steps, field)),
        ]).toEqual([producer, ...all])
        const { available } = plainHeld(past, `contribute/${producer}`, blocks.length - 1)
        const { decimal } = await ask('get-token-detail', { token: 'contribute' })
        const total = (field: string): bigint =>
          steps.reduce((sum: bigint, row: Record<string, string>) => sum + toUnits(row[field] ?? '0', decimal), 0n)
        expect([producer, total('contribute_made') - total('contribute_exchanged')]).toEqual([producer, available])
        const { iost } = await ask('get-account-assets', { account: producer })
        expect([producer, sumOf(steps, 'candidate_bonus_earned')]).toEqual([
          producer,
          sumOf(steps, 'candidate_bonus') + toUnits(String(iost.producer_reward), 8),
        ])
        sums += all.reduce((sum, each) => sum + each, 0n)
      }
      expect(sums).toBeGreaterThan(0n)
    })
})
