import { describe, expect, test } from 'bun:test'
import { acquireFreely, answer } from '#actions/answer.ts'
import { openExport } from '#actions/export.ts'
import { createRankingCache, type RankingCache } from '#actions/find/caches.ts'
import { fromUnits, toUnits } from '#chain/amount.ts'
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

const blocks = (await recordedBlocks()).map(({ block }) => block)
const past = plainPast(blocks)
const ballots = plainBallots(blocks)
const random = seeded(2210)
const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
const height = (): number => Math.floor(random() * blocks.length)
const store = await loadedStore()
const none = { get: () => undefined }
const bare = { store, node: undefined, prices: none, profiles: none, clock: systemClock }
const never = new AbortController().signal

const callOf = (action: string, params: Readonly<Record<string, string>>) => ({
  query: Object.entries({ module: action.split('-')[1] ?? '', action, ...params }),
  options: { lang: 'en', format: 'bare', compat: 'none', numbers: 'string' } as const,
})
const exportOf = (action: string, params: Readonly<Record<string, string>>) => ({
  ...callOf(action, params),
  format: 'ndjson' as const,
})

const iost = (units: bigint): string => fromUnits(units, 8)
const producers = [...new Set(ballots.map(({ producer }) => producer))]
const tokens = [...new Set([...past.changes.keys()].map(id => id.slice(0, id.indexOf('/'))))]

describe('get-producer-voter of the past', () => {
  test('at random heights: the voters match a replay, and their votes add up to those of the producer', async () => {
    for (let at = 0; at < 60; at++) {
      const [producer, then] = [one(producers), height()]
      const until = ballots.filter(each => each.producer === producer && each.height <= then)
      const { voters, at_block } = await ask('get-producer-voter', { producer, at_block: String(then) })
      expect(at_block).toBe(then)
      const sum = until.reduce((all, { change }) => all + change, 0n)
      expect(voters.reduce((all: bigint, row: { votes: string }) => all + toUnits(row.votes, 8), 0n)).toBe(sum)
      expect(voters).toEqual(
        plainTally(until, ({ voter }) => voter).map(([account, votes]) => ({ account, votes: iost(votes) })),
      )
    }
  })

  test('after the last block: each page matches the current ranking', async () => {
    for (const producer of producers) {
      const at_block = String(blocks.length - 1)
      const { at_block: _, at_time, ...then } = await ask('get-producer-voter', { producer, at_block })
      expect(then).toEqual(await ask('get-producer-voter', { producer }))
      const page = { producer, page: '2', size: '2' }
      const part = await ask('get-producer-voter', { ...page, at_block })
      expect(part.voters).toEqual((await ask('get-producer-voter', page)).voters)
    }
  })
})

describe('get-token-holder of the past', () => {
  const holdersOf = (token: string, then: number) =>
    [...past.changes.keys()]
      .filter(id => id.startsWith(`${token}/`))
      .map(id => [id.slice(token.length + 1), plainHeld(past, id, then).available] as const)
      .filter(([, available]) => available > 0n)
      .sort(([a, many], [b, other]) => (many === other ? (a < b ? -1 : 1) : many > other ? -1 : 1))

  test('at random heights: the holders match a replay', async () => {
    for (let at = 0; at < 60; at++) {
      const [token, then] = [at % 3 === 0 ? 'iost' : one(tokens), height()]
      const expected = holdersOf(token, then)
      const asked = { token, at_block: String(then), size: '500' }
      const answer = await ask('get-token-holder', asked)
      expect([token, then, answer.total]).toEqual([token, then, expected.length])
      expect(answer.holders.map(({ account }: { account: string }) => account)).toEqual(
        expected.slice(0, 500).map(([account]) => account),
      )
      const [sum = 0n, decimals = 0] = sumOf(answer.holders)
      expect(sum).toBe(sumOfUnits(expected.slice(0, 500), decimals, token))
    }
  })

  test('a holder whose name cannot occur in a row is in the ranking of the past', async () => {
    const { store, destroy } = await temporarySqlite()
    const gift = (name: string) => [
      transaction({ receipts: [receipt('token.iost/transfer', ['iost', 'alice00', name, '1', ''])] }),
    ]
    const chain = chainOf([genesis()], gift(' .iost'), ...Array.from({ length: 9 }, () => gift('bob0000')))
    await commitRuns(store, [chain], { lib: 10 })
    const then = await ask('get-token-holder', { token: 'iost', at_block: '2' }, { deps: { store } })
    expect(then.holders).toEqual([
      { account: 'alice00', balance: '998', symbol: 'iost' },
      { account: ' .iost', balance: '1', symbol: 'iost' },
      { account: 'bob0000', balance: '1', symbol: 'iost' },
    ])
    await destroy()
  })

  test('an owner whose last RAM was used up without a movement is in the ranking of the past', async () => {
    const moved = (amount: string) => receipt('token.iost/transfer', ['ram', 'alice00', 'bob0000', amount, ''])
    const used = transaction({ receipt: { ramUsage: [['alice00', 99_990n]] } })
    // With more movements before the block than after it, and the reverse.
    for (const later of [0, 9]) {
      const { store, destroy } = await temporarySqlite()
      const more = Array.from({ length: later }, () => [
        transaction({ receipts: [receipt('token.iost/issue', ['ram', 'bob0000', '1'])] }),
      ])
      await commitRuns(store, [chainOf([genesis()], [transaction({ receipts: [moved('10')] })], [used], ...more)], {
        lib: 2 + later,
      })
      const holdersAt = async (height: string) =>
        (await ask('get-token-holder', { token: 'ram', at_block: height }, { deps: { store } })).holders
      expect(await holdersAt('1')).toEqual([
        { account: 'alice00', balance: '99990', symbol: 'ram' },
        { account: 'bob0000', balance: '10', symbol: 'ram' },
      ])
      expect(await holdersAt('2')).toEqual([{ account: 'bob0000', balance: '10', symbol: 'ram' }])
      await destroy()
    }
  })

  test('the ranking found for one page is reused for the next one, by token and block', async () => {
    const kept = createRankingCache()
    const found: string[] = []
    const made: string[] = []
    const rankings: RankingCache = {
      get: key => {
        const known = kept.get(key)
        if (known !== undefined) found.push(key)
        return known
      },
      put: (key, ...value) => {
        made.push(key)
        kept.put(key, ...value)
      },
    }
    const asked = { token: 'iost', at_block: '3000', size: '5' }
    const [first, second] = [
      await ask('get-token-holder', asked, { deps: { rankings } }),
      await ask('get-token-holder', { ...asked, page: '2' }, { deps: { rankings } }),
    ]
    expect([made.length, found]).toEqual([1, made])
    await ask('get-token-holder', { ...asked, at_block: '2999' }, { deps: { rankings } })
    expect(made.length).toBe(2)
    const whole = await ask('get-token-holder', { ...asked, size: '10' })
    expect([...first.holders, ...second.holders]).toEqual(whole.holders)
  })

  test('after the last block: the ranking matches the current one', async () => {
    for (const token of ['iost', 'ram', 'contribute', one(tokens)]) {
      const asked = { token, page: '2', size: '7' }
      const { at_block, at_time, ...then } = await ask('get-token-holder', {
        ...asked,
        at_block: String(blocks.length - 1),
      })
      expect(then).toEqual(await ask('get-token-holder', asked))
    }
  })
})

describe('the work limit of a ranking of the past, counted in steps', () => {
  /** Every reading of this clock is a millisecond later, so that each step of the work takes one. */
  const counted = () => {
    let looks = 0
    return { ...systemClock, elapsed: () => looks++, sleep: async () => undefined }
  }
  const calls = [
    ['get-token-holder', { token: 'iost', at_block: '2000', size: '3', page: '2' }],
    ['get-producer-voter', { producer: 'producer000', at_block: '2000', size: '3' }],
  ] as const
  const limited = ([action, params]: (typeof calls)[number], rankingMs: number) =>
    ask(action, params, { deps: { clock: counted(), rankingMs } })

  for (const call of calls)
    test(`${call[0]}: a page within the limit succeeds, beyond it gets 503 that names the export, and exports have no limit`, async () => {
      const expected = await ask(call[0], call[1])
      let most = 0
      while ((await refusal(limited(call, most)).catch(() => undefined)) !== undefined) most++
      expect(most).toBeGreaterThan(0)
      expect(await limited(call, most)).toEqual(expected)
      const { kind, en, zh } = await refusal(limited(call, most - 1))
      expect(kind).toBe('unavailable')
      expect(en).toEndWith(
        `at block 2000 take longer than ${(most - 1) / 1000} s to find; request them with format=ndjson or format=csv, which have no such limit.`,
      )
      expect(zh).toEndWith('秒；请使用没有此限制的 format=ndjson 或 format=csv。')

      const { size: _, ...params } = call[1] as Readonly<Record<string, string>>
      const { page: __, ...whole } = params
      const given: Given[] = []
      const opened = await openExport({ ...bare, clock: counted(), rankingMs: 0 }, exportOf(call[0], whole), {
        signal: never,
        acquire: acquireFreely,
        prolong: prolongInto(given),
      })
      expect([opened.total, given]).toEqual([expected.total, [undefined, 'restored']])
      opened.close()
    })

  test('a page may use the limit in addition to its deadline, and a kept ranking uses none of it', async () => {
    const [call] = calls
    const given: Given[] = []
    const deps = { ...bare, clock: counted(), rankingMs: 500, rankings: createRankingCache() }
    const asked = () =>
      answer(deps, callOf(...call), { signal: never, prolong: prolongInto(given) }).then(({ data }) => data)
    const first = await asked()
    expect(await asked()).toEqual(first)
    expect(given).toEqual([500, 'restored'])
  })
})

type Given = number | undefined | 'restored'

/** Records each extension of the deadline, and its end. */
const prolongInto = (given: Given[]) => (ms: number | undefined) => {
  given.push(ms)
  return () => void given.push('restored')
}

/** Sum of the balances of the rows, in 10^-18. */
const sumOf = (rows: readonly { balance: string }[]): readonly [bigint, number] => [
  rows.reduce((sum, { balance }) => sum + toUnits(balance, 18), 0n),
  18,
]
const decimalsOf = new Map<string, number>()
for (const token of tokens) decimalsOf.set(token, (await ask('get-token-detail', { token })).decimal)
const sumOfUnits = (rows: readonly (readonly [string, bigint])[], decimals: number, token: string): bigint =>
  rows.reduce((sum, [, units]) => sum + units, 0n) * 10n ** BigInt(decimals - (decimalsOf.get(token) ?? 8))

test('error: at_block together with at_time is refused, in both languages', async () => {
  for (const [action, of] of [
    ['get-producer-voter', { producer: 'producer000' }],
    ['get-token-holder', { token: 'iost' }],
  ] as const)
    expect(await refusal(ask(action, { ...of, at_block: '1', at_time: '2026-11-21T00:00:00Z' }))).toMatchObject({
      kind: 'bad_request',
      zh: "参数 'at_block' 与 'at_time' 不能同时使用；请只提供其中一个。",
    })
})
