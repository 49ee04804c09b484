import { expect, test } from 'bun:test'
import { createPermits } from '#gate/gate.ts'
import { createQueues } from '#gate/queues.ts'
import { createRates } from '#gate/rate.ts'
import { createKey } from '#keys/key.ts'
import { keyring } from '#keys/keyring.ts'
import type { Plan } from '#keys/plan.ts'
import { systemClock } from '#time/clock.ts'
import { serviceOn } from '../support/processes/service.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { turn } from '../support/wait.ts'

/** What rankings of the past may cost a caller, and a caller the service. */

const TEST_KEY = 'shared-test-key'
const WIDE: Plan = { perSecond: 1_000, perDay: 100_000 }

async function started(plan = WIDE) {
  const { key, stored } = createKey('own', plan, { now: Date.now() })
  const testKey = { key: TEST_KEY, plan: WIDE }
  const service = serviceOn(await loadedStore(), {
    clock: systemClock,
    keyring: keyring({
      store: { read: async () => ({ keys: [stored], isStart: true, isEnd: true, mark: undefined }) },
      clock: systemClock,
      testKey,
    }),
    rates: createRates({ clock: systemClock }),
  })
  const ask = async (path: string, own = key) => {
    const response = await service.ask(path, { headers: { 'x-api-key': own } })
    return {
      status: response.status,
      body: (await response.json()) as { readonly code: number; readonly message: string },
    }
  }
  return {
    ...service,
    ask,
    used: async (): Promise<number> => {
      const { body } = await ask('/usage')
      return (body as unknown as { data: { today: { used: number } } }).data.today.used
    },
  }
}

/** Rankings of tens of thousands of rows. */
const LARGE = [
  '/api/token/get-token-holder?token=iost&at_block=2400',
  '/api/token/get-token-holder?token=iost&at_block=2600',
]
const SMALL = [
  '/api/producer/get-producer-voter?producer=producer000&at_block=2000',
  '/api/producer/get-reward-shares?producer=producer000&start_block=1000&end_block=2000',
]

test('rankings of the past: rows read count as those of an export do, and equal rankings are computed once', async () => {
  for (const path of LARGE) {
    const { ask, used } = await started()
    expect([path, (await ask(`${path}&page=1`)).status]).toEqual([path, 200])
    const alone = await used()
    expect(alone).toBeGreaterThan(5)
    // Any page of a ranking that is known, from anybody.
    expect((await ask(`${path}&page=2`)).status).toBe(200)
    expect((await ask(`${path}&page=2`, TEST_KEY)).status).toBe(200)
    expect(await used()).toBe(alone + 1)
    const other = await started()
    const pages = ['1', '2', '3', '4', '5']
    const answers = await Promise.all(pages.map(page => other.ask(`${path}&page=${page}`)))
    expect([path, answers.map(({ status }) => status)]).toEqual([path, pages.map(() => 200)])
    expect([path, await other.used()]).toEqual([path, alone + pages.length - 1])
  }
}, 60_000)

test('rankings of the past: the shared test key gets small ones only', async () => {
  const { ask } = await started()
  for (const path of LARGE) {
    const { status, body } = await ask(path, TEST_KEY)
    expect([path, status, body.code]).toEqual([path, 403, 4030])
    expect(body.message).toMatch(
      /^The holders of token 'iost' at block \d+ take \d{5} rows to find, and without an API key of one's own at most 10000 rows are read for an answer; ask the operator for a key\.$/,
    )
    expect((await ask(`${path}&format=ndjson`, TEST_KEY)).status).toBe(403)
  }
  for (const path of SMALL) expect([path, (await ask(path, TEST_KEY)).status]).toEqual([path, 200])
}, 60_000)

test('rankings of the past: one that exceeds the requests of the day is refused before any work', async () => {
  const { ask, used } = await started({ perSecond: 1_000, perDay: 6 })
  for (const path of LARGE) {
    const { status, body } = await ask(path)
    expect([path, status]).toEqual([path, 429])
    expect(body.message).toMatch(
      /^This API key is limited to 6 requests per day; \d are left today, and \d+ more are needed\.$/,
    )
  }
  expect(await used()).toBe(0)
}, 60_000)

test('rankings of the past: one runs at a time, and one for an export, however many keys ask', async () => {
  const capacity = { maxInFlight: 64, maxExports: 8, maxFeeds: 8, maxFeedsPerKey: 8 }
  const queues = createQueues({ ...capacity, deadlineMs: 600_000, clock: systemClock })
  const plan: Parameters<typeof createPermits>[1]['plan'] = {
    more: async () => undefined,
    require: () => undefined,
    mostRows: undefined,
  }
  const { signal } = new AbortController()
  const [running, most] = [
    { page: 0, whole: 0 },
    { page: 0, whole: 0 },
  ]
  const work = async (key: string, kind: 'page' | 'whole') => {
    const slot = await createPermits(queues, { key, plan }).store(signal)()
    try {
      await slot.longWork?.enqueue(async () => {
        running[kind] += 1
        most[kind] = Math.max(most[kind], running[kind])
        // Waiting rankings hold no place among the answers out of the store.
        expect(queues.store.permits.count()).toBe(0)
        for (let turns = 0; turns < 5; turns++) await turn()
        running[kind] -= 1
      }, kind === 'whole')
    } finally {
      slot.leave()
    }
  }
  const keys = ['a', 'b', 'c']
  const ends = await Promise.allSettled([
    ...keys.flatMap(key => [work(key, 'page'), work(key, 'page')]),
    ...keys.map(key => work(key, 'whole')),
  ])
  expect(most).toEqual({ page: 1, whole: 1 })
  expect(ends.map(({ status }) => status)).toEqual(ends.map(() => 'fulfilled'))
  // More than may wait are refused at once.
  const crowd = await Promise.allSettled(Array.from({ length: 20 }, (_, at) => work(`k${at}`, 'page')))
  expect(crowd.filter(({ status }) => status === 'fulfilled').length).toBeLessThan(20)
}, 60_000)
