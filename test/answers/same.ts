import { beforeAll, expect, test } from 'bun:test'
import { actions } from '#actions/registry.ts'
import { createKey } from '#keys/key.ts'
import type { Store } from '#store/port.ts'
import { choosePages, samplePaths } from '../explorer/samples.ts'
import { explorerOn, HTML } from '../explorer/served.ts'
import { askCase, httpCases } from '../http/cases.ts'
import { oracle, recordedBlocks } from '../support/nodes/recording.ts'
import { plainItems } from '../support/oracle/items.ts'
import { type Service, serviceOn } from '../support/processes/service.ts'
import { SOAK } from '../support/processes/soak.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { loadedStore } from '../support/stores/loaded.ts'

type Effort = { readonly calls: number; readonly searches: number; readonly past: number }

function drawing(seed: number) {
  const random = seeded(seed)
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
  return { random, pick }
}

async function pastCalls({ random, pick }: ReturnType<typeof drawing>): Promise<readonly Record<string, string>[]> {
  const { votes } = await oracle()
  const height = (): string => String(Math.floor(random() * 4_851))
  const producer = pick([...votes.keys()])
  const account = pick([...votes.values()].flatMap(voters => [...voters.keys()]))
  const token = pick(['iost', 'ram', 'contribute'])
  return [
    { action: 'get-vote-history', account, page: '1', size: '7', start_block: height() },
    { action: 'get-producer-voter', producer, at_block: height() },
    { action: 'get-producer-voter', producer, at_block: height(), page: '2', size: '5' },
    { action: 'get-token-holder', token: pick([token, 'big8']), at_block: height(), page: '1' },
    { action: 'get-reward-shares', producer, start_block: height() },
    { action: 'get-reward-history', producer, sort: 'asc', end_block: height() },
    { action: 'get-supply-history', token, step: pick(['day', 'week', 'month']) },
    { action: 'get-supply-history', token, start_block: height() },
    { action: 'get-account-balance', account, at_block: height() },
    { action: 'get-account-assets', account, at_block: height() },
    { action: 'get-account-assets', account },
  ]
}

const PAST_EXPORTS: readonly Record<string, string>[] = [
  { action: 'get-token-holder', token: 'iost', at_block: '3000', format: 'ndjson' },
  { action: 'get-producer-voter', producer: 'prod_02', at_block: '3000', format: 'ndjson' },
  { action: 'get-reward-shares', producer: 'prod_02', start_block: '1500', end_block: '3000', format: 'ndjson' },
  { action: 'get-reward-history', producer: 'prod_02', format: 'ndjson' },
  { action: 'get-vote-history', account: 'whale_01', format: 'ndjson' },
  { action: 'get-balance-history', account: 'whale_01', format: 'csv', csv: 'ledger' },
  { action: 'get-account-tx', account: 'busyhub', format: 'csv', csv: 'koinly', min_amount: '1' },
]

/** The store with the whole recorded chain answers byte for byte like the SQLite file of all tests. */
export function sameAnswersSuite(opened: () => Store, { calls, searches, past }: Effort): void {
  const cases = httpCases()
  let services: readonly Service[] = []
  const now = Date.UTC(2026, 10, 21)
  let shared = ''
  let bad = { revoked: '', expired: '' }

  beforeAll(async () => {
    const key = createKey('same', { perSecond: 1_000_000, perDay: 1_000_000 }, { now })
    shared = key.key
    const revoked = createKey('revoked', { perSecond: 9, perDay: 9 }, { now })
    const expired = createKey('expired', { perSecond: 9, perDay: 9 }, { now: 0, expires: Date.UTC(2026, 0, 1) })
    bad = { revoked: revoked.key, expired: expired.key }
    const keys = [key.stored, { ...revoked.stored, revoked: now }, expired.stored]
    services = [await loadedStore(), opened()].map(store => serviceOn(store, { keys }))
  })

  /** Status, headers and body, without the parts that differ from answer to answer. */
  const answers = async (path: string, init?: RequestInit): Promise<readonly unknown[]> =>
    Promise.all(
      services.map(async service => {
        const response = await service.ask(path, { headers: { 'x-api-key': shared }, ...init })
        const headers = [...response.headers].filter(
          ([name]) => !/^(x-request-id|ratelimit-.*|retry-after)$/.test(name),
        )
        const body = (await response.text()).replace(/"request_id":"[^"]*"/, '"request_id":"*"')
        return [response.status, headers, body]
      }),
    )

  /** Status and body of a call, after a comparison of the whole answers. */
  const same = async (params: URLSearchParams | Record<string, string>, seed = 0) => {
    const query = String(new URLSearchParams(params))
    const [one, other] = await answers(`/api/?${query}`)
    expect([seed, query, other]).toEqual([seed, query, one])
    const [status, , body] = one as [number, unknown, string]
    return { status, body }
  }

  test('as on SQLite: every contract case has the expected answer', async () => {
    const [, other] = services
    for (const one of await cases) {
      const got = await askCase(one, (path, init) => other?.ask(path, init) ?? Promise.reject(), {
        key: shared,
        ...bad,
      })
      expect(got).toEqual(one)
    }
  })

  test('as on SQLite: the example of every action has the same answer in every format', async () => {
    for (const { module, action, example } of actions)
      for (const form of [{}, { format: 'bare' }, { numbers: 'string' }, { compat: 'iostabc' }, { lang: 'zh' }])
        expect((await same({ module, action, ...example, ...form })).status).toBe(200)
  })

  test('as on SQLite: every page of the explorer is the same', async () => {
    const onSqlite = await explorerOn({ isKeyless: true })
    const [one, other] = [onSqlite, serviceOn(opened(), { explorer: true })]
    const paths = await samplePaths(onSqlite)
    // Relative times depend on the moment, and links of calls on the key of the service. Both are removed.
    const pageOf = async ({ ask }: Pick<Service, 'ask'>, path: string) => {
      const response = await ask(path, { headers: { accept: HTML } })
      const text = await response.text()
      return [response.status, text.replace(/(<time class="ago"[^>]*>)[^<]*|&(?:amp;)?apikey=\w+/g, '$1')]
    }
    for (const path of [...choosePages(paths, SOAK ? Number.POSITIVE_INFINITY : 1), '/account/busyhubb', '/nothing'])
      expect([path, await pageOf(other, path)]).toEqual([path, await pageOf(one, path)])
  })

  test('as on SQLite: random calls have the same answers', async () => {
    const state = await oracle()
    const { collections } = await plainItems()
    const hashes = (await recordedBlocks()).flatMap(({ block }) => block.transactions.map(({ hash }) => hash))
    const seed = seedOf(5)
    const { random, pick } = drawing(seed)
    const names = [...state.accounts.keys(), ...state.contracts.keys(), 'nobody_here', '0', 'token.iost']
    const values: Readonly<Record<string, () => string>> = {
      account: () => pick(names),
      contract: () => pick([...state.contracts.keys(), 'token.iost', 'nobody.iost']),
      token: () => pick([...state.tokens.keys(), 'nothing']),
      producer: () => pick([...state.votes.keys(), 'prod_99']),
      number: () => String(Math.floor(random() * 5_000)),
      page: () => String(Math.floor(random() ** 4 * 2_000)),
      size: () => String(1 + Math.floor(random() ** 2 * 520)),
      sort: () => pick(['asc', 'desc']),
      start_block: () => String(Math.floor(random() * 4_000)),
      end_block: () => String(4_000 + Math.floor(random() * 1_000)),
      start_time: () => String(Math.floor(random() * 1_795_249)) + '0'.repeat(12),
      end_time: () => String(1_795_247 + Math.floor(random() * 4)) + '0'.repeat(12),
      start_date: () => pick(['2018-11-10', '2026-11-20', '2026-11-21']),
      end_date: () => pick(['2026-11-20', '2026-11-21', '2026-11-22']),
      start_seq: () => String(Math.floor(random() ** 2 * 200)),
      end_seq: () => String(Math.floor(200 + random() ** 2 * 20_000)),
      action_name: () => pick(['transfer', 'play', 'vote', 'signUp', 'nothing']),
      accounts: () => `${pick(names)},${pick(names)}`,
      collection: () => pick([...collections.keys(), 'nothing']),
      token_id: () => String(Math.floor(random() ** 3 * 12)),
      tx_hash: () => pick(hashes),
      tx_hashes: () => `${pick(hashes)},${pick(hashes)}`,
      text: () => pick(names).slice(0, 1 + Math.floor(random() * 8)),
    }
    // An action that is only ever refused would have the same answers on any store.
    const unanswered = new Set(actions)
    for (let n = 0; n < 10 * calls && (n < calls || unanswered.size > 0); n++) {
      const called = n < calls ? pick(actions) : pick([...unanswered])
      const { module, action, params } = called
      const query = new URLSearchParams({ module, action })
      for (const name of Object.keys(params.properties)) {
        const value = values[name]
        if (value !== undefined && (random() < 0.6 || params.required?.includes(name))) query.set(name, value())
      }
      if ((await same(query, seed)).status === 200) unanswered.delete(called)
    }
    expect([seed, [...unanswered].map(({ action }) => action)]).toEqual([seed, []])
  })

  test('as on SQLite: answers and exports of the past are the same', async () => {
    const draw = drawing(2212)
    const asked: Record<string, string>[] = [...PAST_EXPORTS]
    for (let n = 0; n < past; n++) asked.push(...(await pastCalls(draw)))
    for (const call of asked) {
      const { module = '' } = actions.find(({ action }) => action === call['action']) ?? {}
      expect([call, (await same({ module, ...call })).status]).toEqual([call, 200])
    }
  })

  test('as on SQLite: searched rows are the same on consecutive pages and as exports', async () => {
    const seed = seedOf(23)
    const { random, pick } = drawing(seed)
    const names = ['busyhub', 'admin', 'user_001', 'user_071', 'tokenboss', 'gas.iost', 'deadaddr']
    const lists: readonly (() => Readonly<Record<string, string>>)[] = [
      () => ({ module: 'account', action: 'get-account-tx', account: pick(names) }),
      () => ({ module: 'account', action: 'get-account-tx', account: `${pick(names)},${pick(names)}` }),
      () => ({ module: 'token', action: 'get-token-tx', token: pick(['iost', 'ram', 'contribute']) }),
      () => ({ module: 'contract', action: 'get-contract-tx', contract: pick(['token.iost', 'gas.iost']) }),
    ]
    const filters: Readonly<Record<string, () => string>> = {
      direction: () => pick(['in', 'out']),
      counterparty: () => pick(names),
      token: () => pick(['iost', 'iost,ram']),
      func_name: () => pick(['token.iost/transfer', 'gas.iost/pledge']),
      failed: () => '1',
      memo_prefix: () => pick(['t', 'to hub']),
      min_amount: () => pick(['1', '0.5', '1000']),
      start_block: () => String(Math.floor(random() * 4_000)),
    }
    let found = 0
    for (let n = 0; n < searches; n += 1) {
      const query = new URLSearchParams({ ...pick(lists)(), sort: pick(['asc', 'desc']) })
      for (const [name, value] of Object.entries(filters))
        if (!query.has(name) && random() < 0.3) query.set(name, value())
      if (n % 3 === 0) query.set('format', pick(['ndjson', 'csv']))
      for (let more: string | undefined = ''; more !== undefined; ) {
        const { status, body } = await same(query, seed)
        found += status === 200 && body.includes('"id":') ? 1 : 0
        more = query.has('format') || random() < 0.5 ? undefined : /"next":"([^"]+)"/.exec(body)?.[1]
        if (more !== undefined) query.set('after', more)
      }
    }
    expect(found).toBeGreaterThan(searches / 20)
  })
}
