import { expect, test } from 'bun:test'
import { createPermits } from '#gate/gate.ts'
import { createQueues } from '#gate/queues.ts'
import { createRates } from '#gate/rate.ts'
import { createKey } from '#keys/key.ts'
import { keyring } from '#keys/keyring.ts'
import type { Plan } from '#keys/plan.ts'
import type { StoredKey } from '#store/port.ts'
import { feedEvents } from '#test/support/processes/feed-client.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'
import { seen, turn } from '#test/support/wait.ts'
import { systemClock } from '#time/clock.ts'

/**
 * Work that goes on after its request was admitted: it counts under the plan, and ends with its key. What rankings of
 * the past may cost a caller, and a caller the service.
 */

const TEST_KEY = 'shared-test-key'
const WIDE: Plan = { perSecond: 1_000, perDay: 100_000 }

async function started(plan = WIDE) {
  const { key, stored } = createKey('worker', plan, { now: Date.now() })
  let keys: readonly StoredKey[] = [stored]
  const service = serviceOn(await loadedStore(), {
    clock: systemClock,
    keyring: keyring({
      store: { read: async () => ({ keys, isStart: true, isEnd: true, mark: undefined }) },
      clock: systemClock,
      testKey: { key: TEST_KEY, plan: WIDE },
    }),
    rates: createRates({ clock: systemClock }),
  })
  const ask = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    service.ask(path, { headers: { 'x-api-key': key, ...headers } })
  return {
    ...service,
    ask,
    readRefusal: async (path: string, own = key) => {
      const response = await ask(path, { 'x-api-key': own })
      const { message } = (await response.json()) as { readonly message: string }
      return [response.status, message] as const
    },
    revoke: () => {
      keys = [{ ...stored, revoked: Date.now() }]
    },
    /** Number of requests of the day that a key has used. */
    used: async (): Promise<number> => {
      const { data } = (await (await ask('/usage')).json()) as { data: { today: { used: number } } }
      return data.today.used
    },
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
    const { ask, used } = await started()
    const exported = await ask(`${search}&format=ndjson`)
    expect([search, exported.status]).toEqual([search, 200])
    await exported.text()
    const counted = await used()
    const response = await ask(`${search}&format=sse`)
    expect([search, response.status]).toEqual([search, 200])
    let isLeaving = false
    const reading = (async () => {
      for await (const _ of feedEvents(response.body)) if (isLeaving) break
    })()
    expect(counted).toBeGreaterThan(1)
    // The feed has found the end of the list when it counts no more.
    expect(await seen(used, count => count >= 2 * counted)).toBe(2 * counted)
    isLeaving = true
    void reading
  }
}, 60_000)

test.each([
  '/api/account/get-account-tx?account=busyhub&format=ndjson',
  '/api/account/get-balance-history?account=busyhub&token=iost&format=csv&csv=ledger',
])(
  'long work: %s ends when its key is revoked, however slowly it is read',
  async path => {
    const { ask, revoke, lines } = await started()
    const response = await ask(path)
    expect(response.status).toBe(200)
    const reader = response.body?.getReader()
    expect((await reader?.read())?.done).toBe(false)
    revoke()
    // The client reads nothing meanwhile.
    const ended = await seen(
      async () => lines.find(({ fields }) => fields['route'] === 'api' && fields['status'] === 200),
      line => line !== undefined,
    )
    expect(ended?.fields['kind']).toBe('forbidden')
    const rest = async () => {
      for (;;) if ((await reader?.read())?.done === true) return 'whole'
    }
    // A broken body, which no client takes for the whole list.
    await expect(rest()).rejects.toThrow()
  },
  60_000,
)

test('long work: an export that is collected before it is sent is refused when its key is revoked', async () => {
  // Each thousand of rows waits for a second of the plan.
  const { ask, used, revoke } = await started({ perSecond: 1, perDay: 100_000 })
  // The list of keys is read, and fresh for a while.
  expect(await used()).toBe(0)
  const asked = ask('/api/account/get-account-tx?account=busyhub&format=ndjson', { connection: 'close' })
  revoke()
  const response = await asked
  expect([response.status, await response.json()]).toMatchObject([403, { message: 'This API key is revoked.' }])
}, 60_000)

/** A ranking of tens of thousands of rows. */
const LARGE = '/api/token/get-token-holder?token=iost&at_block=2400'
const SMALL = [
  '/api/producer/get-producer-voter?producer=producer000&at_block=2000',
  '/api/producer/get-reward-shares?producer=producer000&start_block=1000&end_block=2000',
]

test('rankings of the past: rows read count as those of an export do, and equal rankings are computed once', async () => {
  const { ask, used } = await started()
  expect((await ask(`${LARGE}&page=1`)).status).toBe(200)
  const alone = await used()
  expect(alone).toBeGreaterThan(5)
  // Any page of a ranking that is known, from anybody.
  expect((await ask(`${LARGE}&page=2`)).status).toBe(200)
  expect((await ask(`${LARGE}&page=2`, { 'x-api-key': TEST_KEY })).status).toBe(200)
  expect(await used()).toBe(alone + 1)
  const other = await started()
  const answers = await Promise.all([1, 2, 3, 4, 5].map(page => other.ask(`${LARGE}&page=${page}`)))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  expect(await other.used()).toBe(alone + 4)
}, 60_000)

test('rankings of the past: the shared test key gets small ones only', async () => {
  const { ask, readRefusal } = await started()
  const refusal =
    /^The holders of token 'iost' at block \d+ take \d{5} rows to find, and without an API key of one's own at most 10000 rows are read for an answer; ask the operator for a key\.$/
  for (const path of [LARGE, `${LARGE}&format=ndjson`])
    expect(await readRefusal(path, TEST_KEY)).toEqual([403, expect.stringMatching(refusal)])
  for (const path of SMALL) expect([path, (await ask(path, { 'x-api-key': TEST_KEY })).status]).toEqual([path, 200])
}, 60_000)

test('rankings of the past: one that exceeds the requests of the day is refused before any work', async () => {
  const { readRefusal, used } = await started({ perSecond: 1_000, perDay: 6 })
  const refusal = /^This API key is limited to 6 requests per day; \d are left today, and \d+ more are needed\.$/
  expect(await readRefusal(LARGE)).toEqual([429, expect.stringMatching(refusal)])
  expect(await used()).toBe(0)
}, 60_000)

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
}, 60_000)
