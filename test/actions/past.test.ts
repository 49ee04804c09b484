import { describe, expect, test } from 'bun:test'
import { acquireFreely, answer } from '#actions/answer.ts'
import { openExport } from '#actions/export.ts'
import { createRankingCache, type RankingCache } from '#actions/find/caches.ts'
import { createChangeBookings } from '#actions/shape/changes.ts'
import { formatUnits } from '#chain/amount.ts'
import type { Transaction } from '#chain/block.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { plainBallots, plainTally } from '#test/support/oracle/plain-ballots.ts'
import { plainHeld, plainPast } from '#test/support/oracle/plain-past.ts'
import { refusal } from '#test/support/refusal.ts'
import { seeded } from '#test/support/seeded.ts'
import { ask } from '#test/support/stores/ask.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { chainOf, genesis, receipt, transaction } from '#test/support/stores/hand-made.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'
import { systemClock } from '#time/clock.ts'

type Params = Readonly<Record<string, string>>

const blocks = (await recordedBlocks()).map(({ block }) => block)
const past = plainPast(blocks)
const random = seeded(22)
const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
const iost = (units: bigint): string => formatUnits(units, 8)
const height = (): number => Math.floor(random() * blocks.length)

const owners = [...past.changes.keys()].flatMap(id => (id.startsWith('iost/') ? [id.slice('iost/'.length)] : []))

describe('answers of the past', () => {
  test('get-account-balance: answers at random heights match a replay of the blocks', async () => {
    for (let at = 0; at < 120; at++) {
      const [account, at_block] = [one(owners), height()]
      const { available, frozen, list } = plainHeld(past, `iost/${account}`, at_block)
      const entries = list.map(([amount, time]) => ({ amount: iost(BigInt(amount ?? 0)), time }))
      const expected = { balance: iost(available), frozen_balance: { total: iost(frozen), list: entries }, at_block }
      const said = await ask('get-account-balance', { account, at_block: String(at_block) })
      expect([account, said]).toMatchObject([account, expected])
    }
  })

  const voters = new Set(plainBallots(blocks).map(({ voter }) => voter))
  const some = [...Array.from({ length: 20 }, () => one(owners)), 'busyhub', 'vote.iost', 'deadaddr', '0']
  test.each<readonly [string, readonly Params[]]>([
    ['get-account-balance', some.map(account => ({ account }))],
    ['get-token-list', some.map(account => ({ account }))],
    ['get-account-assets', [...voters, ...some].map(account => ({ account }))],
    ['get-token-holder', ['iost', 'ram', 'contribute', 'big8'].map(token => ({ token, page: '2', size: '7' }))],
    ['get-producer-voter', ['producer000', 'prod_01', 'prod_02', 'prod_11'].map(producer => ({ producer }))],
    ['get-producer-voter', [{ producer: 'prod_02', page: '2', size: '2' }]],
  ])('%s: the answer after the last block is the current one', async (action, calls) => {
    for (const asked of calls) {
      const { at_block, at_time, ...then } = await ask(action, { ...asked, at_block: String(blocks.length - 1) })
      expect([at_block, BigInt(Date.parse(at_time))]).toEqual([4851, (blocks.at(-1)?.time ?? 0n) / 1_000_000n])
      expect(then).toEqual(await ask(action, asked))
    }
  })

  test('get-token-list: at genesis there are the tokens of genesis', async () => {
    for (const account of ['admin', 'deadaddr', ...Array.from({ length: 10 }, () => one(owners))]) {
      const { tokens } = await ask('get-token-list', { account, at_block: '0' })
      const given = [...past.changes.keys()].filter(
        id => id.endsWith(`/${account}`) && plainHeld(past, id, 0).available > 0n,
      )
      expect(tokens.map(({ symbol }: { symbol: string }) => `${symbol}/${account}`)).toEqual(given.sort())
    }
  })

  test('at_time: returns the state after the last block that is not later', async () => {
    for (let at = 0; at < 20; at++) {
      const height = 1 + Math.floor(random() * (blocks.length - 2))
      const [account, time] = [one(owners), blocks[height]?.time ?? 0n]
      const of = (params: Params) => ask('get-account-balance', { account, ...params })
      expect(await of({ at_time: String(time) })).toEqual(await of({ at_block: String(height) }))
      expect(await of({ at_time: String(time - 1n) })).toEqual(await of({ at_block: String(height - 1) }))
    }
  })
})

type Row = { block: number; action: string; change: string; balance: string; frozen: string }

describe('get-balance-history', () => {
  /** Owners that froze amounts for themselves. */
  const lockers = owners.filter(name => past.changes.get(`iost/${name}`)?.some(({ own }) => own !== undefined))
  const some = Array.from({ length: 25 }, () => one(owners))

  test.each([...new Set([...some, ...lockers, 'busyhub'])])(
    '%s: changes and balances match a replay',
    async account => {
      const rows: Row[] = []
      for (let page = 1; ; page++) {
        const part = await ask('get-balance-history', { account, sort: 'asc', size: '100', page: String(page) })
        rows.push(...part.changes)
        if (rows.length >= part.total) break
      }
      const moved = rows.filter(({ action }) => action !== 'release')
      const plain = (past.changes.get(`iost/${account}`) ?? []).filter(
        ({ change, own }) => change !== 0n || own !== undefined,
      )
      expect(moved.map(({ block, change }) => [block, change])).toEqual(
        plain.map(({ height, change }) => [height, iost(change)]),
      )
      for (const [at, { block, balance, frozen }] of rows.entries()) {
        if (rows[at + 1]?.block === block) continue
        const held = plainHeld(past, `iost/${account}`, block)
        expect([balance, frozen]).toEqual([iost(held.available), iost(held.frozen)])
      }
    },
  )

  test('an amount that an owner freezes for itself is one row with the change 0, and neither in, out nor a booking', async () => {
    expect(lockers.length).toBeGreaterThan(5)
    for (const account of lockers) {
      const all = past.changes.get(`iost/${account}`) ?? []
      const own = all.flatMap(({ height, own }) => (own === undefined ? [] : [height]))
      for (const height of own) {
        const range = { start_block: String(height), end_block: String(height) }
        const { changes } = await ask('get-balance-history', { account, ...range })
        const locked = changes.filter((row: Row) => row.action === 'transferFreeze' && row.change === '0')
        expect([account, height, locked.length]).toEqual([account, height, own.filter(each => each === height).length])
        const bookings = createChangeBookings('iost')({ rows: changes })
        expect(bookings.map(({ change }) => change)).not.toContain('0')
      }
    }
  })
})

const ballots = plainBallots(blocks)
const tokens = [...new Set([...past.changes.keys()].map(id => id.slice(0, id.indexOf('/'))))]

test('get-producer-voter: at random heights the voters match a replay', async () => {
  const producers = [...new Set(ballots.map(({ producer }) => producer))]
  for (let at = 0; at < 40; at++) {
    const [producer, then] = [one(producers), height()]
    const until = ballots.filter(each => each.producer === producer && each.height <= then)
    const voters = plainTally(until, ({ voter }) => voter).map(([account, votes]) => ({ account, votes: iost(votes) }))
    const said = await ask('get-producer-voter', { producer, at_block: String(then) })
    expect([producer, said]).toMatchObject([producer, { voters, at_block: then }])
    expect(said.voters.length).toBe(voters.length)
  }
})

describe('get-token-holder of the past', () => {
  test('at random heights the holders match a replay', async () => {
    for (let at = 0; at < 40; at++) {
      const [token, then] = [at % 3 === 0 ? 'iost' : one(tokens), height()]
      const { decimal } = await ask('get-token-detail', { token })
      const expected = [...past.changes.keys()]
        .filter(id => id.startsWith(`${token}/`))
        .map(id => [id.slice(token.length + 1), plainHeld(past, id, then).available] as const)
        .filter(([, available]) => available > 0n)
        .sort(([a, many], [b, other]) => (many === other ? (a < b ? -1 : 1) : many > other ? -1 : 1))
        .map(([account, units]) => ({ account, balance: formatUnits(units, decimal), symbol: token }))
      const said = await ask('get-token-holder', { token, at_block: String(then), size: '500' })
      expect([then, said.total, said.holders]).toEqual([then, expected.length, expected.slice(0, 500)])
    }
  })

  /** The holders of a token at each height of a chain that begins with these lists of transactions. */
  const holdersOf = async (token: string, lists: readonly (readonly Transaction[])[], heights: readonly number[]) => {
    await using place = await temporarySqlite()
    await commitRuns(place.store, [chainOf([genesis()], ...lists)], { lib: lists.length })
    const found: string[] = []
    for (const at of heights) {
      const { holders } = await ask(
        'get-token-holder',
        { token, at_block: String(at) },
        { deps: { store: place.store } },
      )
      found.push(holders.map(({ account, balance }: Params) => `${account} ${balance}`).join(', '))
    }
    return found
  }
  const moved = (name: string, ...args: readonly string[]) => [
    transaction({ receipts: [receipt(`token.iost/${name}`, args)] }),
  ]

  test('a holder whose name cannot occur in a row is in the ranking', async () => {
    const gift = (name: string) => moved('transfer', 'iost', 'alice00', name, '1', '')
    const lists = [gift(' .iost'), ...Array.from({ length: 9 }, () => gift('bob0000'))]
    expect(await holdersOf('iost', lists, [2])).toEqual(['alice00 998,  .iost 1, bob0000 1'])
  })

  test('an owner whose last RAM was used up without a movement is in the ranking', async () => {
    const used = [transaction({ receipt: { ramUsage: [['alice00', 99_990n]] } })]
    // With more movements before the block than after it, and the reverse.
    for (const later of [0, 9]) {
      const more = Array.from({ length: later }, () => moved('issue', 'ram', 'bob0000', '1'))
      const lists = [moved('transfer', 'ram', 'alice00', 'bob0000', '10', ''), used, ...more]
      expect(await holdersOf('ram', lists, [1, 2])).toEqual(['alice00 99990, bob0000 10', 'bob0000 10'])
    }
  })

  test('the ranking found for one page is reused for the next one, by token and block', async () => {
    const cache = createRankingCache()
    const made: string[] = []
    const put: RankingCache['put'] = (key, ...value) => {
      made.push(key)
      cache.put(key, ...value)
    }
    const rankings = { ...cache, put }
    const asked = { token: 'iost', at_block: '3000', size: '5' }
    const first = await ask('get-token-holder', asked, { deps: { rankings } })
    const second = await ask('get-token-holder', { ...asked, page: '2' }, { deps: { rankings } })
    expect(made.length).toBe(1)
    await ask('get-token-holder', { ...asked, at_block: '2999' }, { deps: { rankings } })
    expect(made.length).toBe(2)
    const whole = await ask('get-token-holder', { ...asked, size: '10' })
    expect([...first.holders, ...second.holders]).toEqual(whole.holders)
  })
})

type Given = number | undefined | 'restored'

describe('the work limit of a ranking of the past, counted in steps', async () => {
  /** Every reading of this clock is a millisecond later, so that each step of the work takes one. */
  const counted = () => {
    let looks = 0
    return { ...systemClock, elapsed: () => looks++, sleep: async () => undefined }
  }
  const none = { get: () => undefined }
  const bare = { store: await loadedStore(), node: undefined, prices: none, profiles: none }
  const signal = new AbortController().signal
  const callOf = (action: string, params: Params) => ({
    query: Object.entries({ module: action.split('-')[1] ?? '', action, ...params }),
    options: { lang: 'en', format: 'bare', compat: 'none', numbers: 'string' } as const,
  })
  const prolongInto = (given: Given[]) => (ms: number | undefined) => {
    given.push(ms)
    return () => void given.push('restored')
  }

  test.each([
    ['get-token-holder', { token: 'iost', at_block: '2000' }, { size: '3', page: '2' }],
    ['get-producer-voter', { producer: 'producer000', at_block: '2000' }, { size: '3' }],
  ] as const)(
    '%s: a page beyond the limit gets 503 that names the export, which has none',
    async (action, of, page) => {
      const limited = (rankingMs: number) => ask(action, { ...of, ...page }, { deps: { clock: counted(), rankingMs } })
      const expected = await ask(action, { ...of, ...page })
      let most = 0
      while ((await refusal(limited(most)).catch(() => undefined)) !== undefined) most++
      expect(most).toBeGreaterThan(0)
      expect(await limited(most)).toEqual(expected)
      const { kind, en, zh } = await refusal(limited(most - 1))
      expect(kind).toBe('unavailable')
      expect(en).toEndWith(
        `at block 2000 take longer than ${(most - 1) / 1000} s to find; request them with format=ndjson or format=csv, which have no such limit.`,
      )
      expect(zh).toEndWith('秒；请使用没有此限制的 format=ndjson 或 format=csv。')

      const given: Given[] = []
      const opened = await openExport(
        { ...bare, clock: counted(), rankingMs: 0 },
        { ...callOf(action, of), format: 'ndjson' },
        { signal, acquire: acquireFreely, prolong: prolongInto(given) },
      )
      expect([opened.total, given]).toEqual([expected.total, [undefined, 'restored']])
      opened.close()
    },
  )

  test('a page may use the limit in addition to its deadline, and a cached ranking uses none of it', async () => {
    const given: Given[] = []
    const deps = { ...bare, clock: counted(), rankingMs: 500, rankings: createRankingCache() }
    const call = callOf('get-token-holder', { token: 'iost', at_block: '2000', size: '3' })
    const asked = async () => (await answer(deps, call, { signal, prolong: prolongInto(given) })).data
    expect(await asked()).toEqual(await asked())
    expect(given).toEqual([500, 'restored'])
  })
})
