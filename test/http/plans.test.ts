import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { createPermits } from '#gate/gate.ts'
import { createQueues } from '#gate/queues.ts'
import { createRates } from '#gate/rate.ts'
import { createKey } from '#keys/key.ts'
import type { Plan } from '#keys/plan.ts'
import type { StoredKey } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { readExposition } from '#test/support/exposition.ts'
import { spokenNode } from '#test/support/nodes/spoken-node.ts'
import { cliFolder } from '#test/support/processes/cli-process.ts'
import { startCrowd } from '#test/support/processes/crowd.ts'
import { serviceOn, testKeyring } from '#test/support/processes/service.ts'
import { fillFromRecording, loadedStore } from '#test/support/stores/loaded.ts'
import { seen, turn, until } from '#test/support/wait.ts'
import { systemClock } from '#time/clock.ts'

/**
 * Work that goes on after its request was admitted: it counts under the plan, and ends with its key. What rankings of
 * the past may cost a caller, and a caller the service.
 */

setDefaultTimeout(60_000)

const TEST_KEY = 'shared-test-key'
const WIDE: Plan = { perSecond: 1_000, perDay: 100_000 }

async function start(plan = WIDE) {
  const { key, stored } = createKey('worker', plan, { now: Date.now() })
  let keys: readonly StoredKey[] = [stored]
  const testKey = { key: TEST_KEY, plan: WIDE }
  const { lines, get } = serviceOn(await loadedStore(), {
    clock: systemClock,
    keyring: testKeyring(() => keys, { clock: systemClock, testKey }),
    rates: createRates({ clock: systemClock }),
  })
  const ask = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    get(path, { 'x-api-key': key, ...headers })
  return {
    lines,
    ask,
    readRefusal: async (path: string, own = key) => {
      const response = await ask(path, { 'x-api-key': own })
      return [response.status, JSON.parse(await response.text()).message] as const
    },
    revoke: () => {
      keys = [{ ...stored, revoked: Date.now() }]
    },
    /** Number of requests of the day that the key has used. */
    countUsed: async (): Promise<number> => JSON.parse(await (await ask('/usage')).text()).data.today.used,
  }
}

/** Every list with a search, by its calls: nothing passes, so all rows are tested. */
const SEARCHES = [
  '/api/token/get-token-tx?token=iost&memo=no+such+memo&start_block=0',
  '/api/account/get-account-tx?account=busyhub&memo=no+such+memo&start_block=0',
  '/api/contract/get-contract-tx?contract=token.iost&memo=no+such+memo&start_block=0',
]

test('long work: a feed of a search counts as many requests as the export of the same search', async () => {
  for (const search of SEARCHES) {
    const { ask, countUsed } = await start()
    expect(await (await ask(`${search}&format=ndjson`)).text()).toContain('"complete":true')
    const counted = await countUsed()
    expect(counted).toBeGreaterThan(1)
    const leaving = new AbortController()
    const { body } = await ask(`${search}&format=sse`)
    const reading = body?.pipeTo(new WritableStream(), { signal: leaving.signal }).catch(() => undefined)
    // The feed has found the end of the list when it counts no more.
    expect(await seen(countUsed, count => count >= 2 * counted)).toBe(2 * counted)
    leaving.abort()
    await reading
  }
})

test.each([
  '/api/account/get-account-tx?account=busyhub&format=ndjson',
  '/api/account/get-balance-history?account=busyhub&token=iost&format=csv&csv=ledger',
])('long work: %s ends when its key is revoked, however slowly it is read', async path => {
  const { ask, revoke, lines } = await start()
  const response = await ask(path)
  expect(response.status).toBe(200)
  const reader = response.body?.getReader()
  expect((await reader?.read())?.done).toBe(false)
  revoke()
  // The client reads nothing meanwhile.
  await until(() => lines.some(({ fields: { route, kind } }) => route === 'api' && kind === 'forbidden'))
  const readRest = async () => {
    for (;;) if ((await reader?.read())?.done === true) return 'whole'
  }
  // A broken body, which no client takes for the whole list.
  await expect(readRest()).rejects.toThrow()
})

test('long work: an export that is collected before it is sent is refused when its key is revoked', async () => {
  // Each thousand of rows waits for a second of the plan.
  const { ask, countUsed, revoke } = await start({ perSecond: 1, perDay: 100_000 })
  // The list of keys is read, and fresh for a while.
  expect(await countUsed()).toBe(0)
  const asked = ask('/api/account/get-account-tx?account=busyhub&format=ndjson', { connection: 'close' })
  revoke()
  const response = await asked
  expect([response.status, await response.json()]).toMatchObject([403, { message: 'This API key is revoked.' }])
})

/** A ranking of tens of thousands of rows. */
const LARGE = '/api/token/get-token-holder?token=iost&at_block=2400'
const SMALL = '/api/producer/get-producer-voter?producer=producer000&at_block=2000'

test('rankings of the past: rows read count as those of an export do, and equal rankings are computed once', async () => {
  const { ask, countUsed } = await start()
  expect((await ask(`${LARGE}&page=1`)).status).toBe(200)
  const alone = await countUsed()
  expect(alone).toBeGreaterThan(5)
  // Any page of a ranking that is known, from anybody.
  expect((await ask(`${LARGE}&page=2`)).status).toBe(200)
  expect((await ask(`${LARGE}&page=2`, { 'x-api-key': TEST_KEY })).status).toBe(200)
  expect(await countUsed()).toBe(alone + 1)
  const other = await start()
  const answers = await Promise.all([1, 2, 3, 4, 5].map(page => other.ask(`${LARGE}&page=${page}`)))
  expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200))
  expect(await other.countUsed()).toBe(alone + 4)
})

test('rankings of the past: the shared test key gets small ones only', async () => {
  const { ask, readRefusal } = await start()
  const refusal =
    /^The holders of token 'iost' at block \d+ take \d{5} rows to find, and without .* at most 10000 rows are read .*\.$/
  for (const path of [LARGE, `${LARGE}&format=ndjson`])
    expect(await readRefusal(path, TEST_KEY)).toEqual([403, expect.stringMatching(refusal)])
  expect((await ask(SMALL, { 'x-api-key': TEST_KEY })).status).toBe(200)
})

test('rankings of the past: one that exceeds the requests of the day is refused before any work', async () => {
  const { readRefusal, countUsed } = await start({ perSecond: 1_000, perDay: 6 })
  const refusal = /^This API key is limited to 6 requests per day; \d are left today, and \d+ more are needed\.$/
  expect(await readRefusal(LARGE)).toEqual([429, expect.stringMatching(refusal)])
  expect(await countUsed()).toBe(0)
})

test('rankings of the past: one runs at a time, and one for an export, however many keys ask', async () => {
  const capacity = { maxInFlight: 64, maxExports: 8, maxFeeds: 8, maxFeedsPerKey: 8 }
  const queues = createQueues({ ...capacity, deadlineMs: 600_000, clock: systemClock })
  const plan = { more: async () => undefined, require: () => undefined, mostRows: undefined }
  const { signal } = new AbortController()
  const [running, most] = [new Map<string, number>(), new Map<string, number>()]
  const work = async (key: string, kind: 'page' | 'whole') => {
    const permit = await createPermits(queues, { key, plan }).store(signal)()
    const ranking = async (): Promise<void> => {
      const count = (running.get(kind) ?? 0) + 1
      running.set(kind, count)
      most.set(kind, Math.max(most.get(kind) ?? 0, count))
      // Waiting rankings hold no place among the answers out of the store.
      expect(queues.store.permits.count()).toBe(0)
      for (let turns = 0; turns < 5; turns++) await turn()
      running.set(kind, count - 1)
    }
    await permit.longWork?.enqueue(ranking, kind === 'whole').finally(() => permit.leave())
  }
  const kinds = ['page', 'page', 'whole'] as const
  await Promise.all(['a', 'b', 'c'].flatMap(key => kinds.map(kind => work(key, kind))))
  expect(Object.fromEntries(most)).toEqual({ page: 1, whole: 1 })
  // More than may wait are refused at once.
  const crowd = await Promise.allSettled(Array.from({ length: 20 }, (_, at) => work(`k${at}`, 'page')))
  expect(crowd.filter(({ status }) => status === 'fulfilled').length).toBeLessThan(20)
})

/**
 * Sends ten times as many requests as may run and wait, through real connections to a real process. It checks
 * only counts and bytes, because times depend on the machine.
 */

/** Number of running requests. Eight times as many may wait. */
const RUNNING = 4
const CAPACITY = 9 * RUNNING
/** Daily limit of a key. */
const DAY = 150
/** Refusals before the first measurement of memory, and between two measurements. */
const WARM = 1_000
const MORE = 3_000

const page = (key: string): string => `/api/?module=account&action=get-account-tx&account=admin&size=20&apikey=${key}`
const from = (address: string) => ({ 'X-Forwarded-For': address })

test('overload: ten times the capacity changes no answer and no limit', async () => {
  await using folder = await cliFolder()
  const store = openSqlite({ path: join(folder.path, 'iostlens.sqlite') })
  await fillFromRecording(store, { to: 600 })
  const [good, limited, ...wide] = [1_000_000, DAY, ...Array<number>(10).fill(1_000_000_000)].map(perDay =>
    createKey('k', { perSecond: 1_000_000, perDay }, { now: Date.now() }),
  )
  if (good === undefined || limited === undefined) throw new Error('There are no keys.')
  await store.keys.add(good.stored, limited.stored, ...wide.map(({ stored }) => stored))
  await store.close()
  const service = folder.start([
    ...['serve', '--listen', '127.0.0.1:0', '--log-level', 'error', '--deadline', '60s', '--data', '.'],
    ...['--max-in-flight', String(RUNNING), '--test-key', 'shared-test-key', '--trusted-proxies', '127.0.0.1'],
    // Each answer takes the store's time.
    ...['--kept-answers', '0'],
  ])
  const url = await service.firstLine
  const ask = async (path: string, address = '192.0.2.1') => {
    const response = await fetch(`${url}${path}`, { headers: from(address) })
    return { status: response.status, text: await response.text() }
  }
  const measured = async () => {
    const { sum } = readExposition(await (await fetch(`${url}/metrics`)).text())
    const answered = (status: number) => sum('iostlens_http_requests_total', { status: String(status) })
    return {
      refused: [401, 429, 503].reduce((all, status) => all + answered(status), 0),
      answered: answered(200),
      failed: answered(500) + answered(504),
      reads: sum('iostlens_store_calls_total', { call: 'read' }),
      bytes: sum('process_resident_memory_bytes'),
    }
  }
  const quiet = await ask(page(good.key))
  expect(quiet.status).toBe(200)
  const start = await measured()
  const crowd = (paths: readonly string[], share: number, address: string) =>
    startCrowd(url, paths, Math.ceil(10 * CAPACITY * share), from(address))
  const crowds = {
    wide: await crowd(
      wide.map(({ key }) => page(key)),
      0.7,
      '192.0.2.2',
    ),
    wrong: await crowd([page('wrong')], 0.2, '192.0.2.4'),
    test: await crowd([page('shared-test-key')], 0.1, '192.0.2.5'),
  }
  const warm = await seen(measured, ({ refused }) => refused - start.refused >= WARM, 20)
  // Requests of a valid key during the overload, also from the address that sends wrong keys.
  for (let at = 0; at < 40; at++)
    expect(await ask(page(good.key), at % 2 === 0 ? '192.0.2.1' : '192.0.2.4')).toEqual(quiet)
  // An address without failures still gets 401 for a wrong key, and its share of the test key.
  expect((await ask(page('wrong'), '192.0.2.6')).status).toBe(401)
  const tried = new Set<number>()
  while (!tried.has(200)) tried.add((await ask(page('shared-test-key'), '192.0.2.7')).status)
  expect([...tried].filter(status => ![200, 429, 503].includes(status))).toEqual([])
  // Requests count against the daily limit once. Requests refused for lack of capacity do not count.
  const spend = async (): Promise<number> => {
    for (let days = 0; ; ) {
      const { status } = await ask(page(limited.key), '192.0.2.3')
      if (status === 429) return days
      if (status === 200) days += 1
    }
  }
  const spent = await Promise.all(Array.from({ length: CAPACITY }, spend))
  expect([...spent, await spend()].reduce((all, own) => all + own, 0)).toBe(DAY)
  // Memory varies with garbage collection. If refusals leaked, it would never fall below the
  // limit again.
  await seen(measured, ({ refused, bytes }) => refused - warm.refused >= MORE && bytes - warm.bytes < 2 ** 26, 20)
  const [wideCounts, wrongCounts] = [await crowds.wide.stop(), await crowds.wrong.stop()]
  const testCounts = await crowds.test.stop()
  // Some requests of the crowds are answered, and each refusal has the right status.
  expect([...wideCounts.keys()].toSorted()).toEqual([200, 503])
  expect([...wrongCounts.keys()].toSorted()).toEqual([401, 429])
  expect([...testCounts.keys()].every(status => [200, 429, 503].includes(status))).toBe(true)
  // The limit of wrong keys per minute, and one more each 600 ms.
  expect(wrongCounts.get(401)).toBeGreaterThanOrEqual(100)
  expect(wrongCounts.get(401)).toBeLessThan((wrongCounts.get(429) ?? 0) / 2)
  // A refusal does not read the store. A request whose client has left may have been answered.
  const end = await measured()
  expect(end.failed).toBe(0)
  expect(end.reads - start.reads).toBeLessThanOrEqual(end.answered - start.answered + 2 * CAPACITY)
  expect(end.refused - start.refused).toBeGreaterThan(WARM + MORE - 1)
  service.kill('SIGTERM')
  expect((await service.ended).code).toBe(0)
}, 600_000)

test('crowd: ten keys waiting for a hanging node take no answer from a key that reads the store', async () => {
  let hanging = 0
  const get = () => {
    hanging += 1
    return new Promise<never>(() => undefined)
  }
  const node = { ...spokenNode({}), get }
  const plan = { perSecond: 1_000_000, perDay: 1_000_000 }
  const keys = Array.from({ length: 10 }, (_, at) => createKey(`crowd ${at}`, plan, { now: Date.now() }))
  const service = serviceOn(await loadedStore(), { node, keys: keys.map(({ stored }) => stored), maxInFlight: 4 })
  const unknown = '8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPq'
  const left = new AbortController()
  const statuses: number[] = []
  const crowd = keys.flatMap(({ key }) =>
    Array.from({ length: 10 }, async (_, at) => {
      const call = at % 2 === 0 ? 'rpc/getNodeInfo?' : `api/transaction/get-transaction-detail?tx_hash=${unknown}&`
      statuses.push((await service.ask(`/${call}apikey=${key}`, { signal: left.signal })).status)
    }),
  )
  await until(() => hanging > 0, 0)
  for (let at = 0; at < 20; at += 1) {
    const path = `/api/account/get-account-tx?account=admin&size=20&page=${at + 1}`
    expect([at, (await service.get(path)).status]).toEqual([at, 200])
  }
  left.abort()
  await Promise.all(crowd)
  expect(statuses).not.toContain(200)
})
