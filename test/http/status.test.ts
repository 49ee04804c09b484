import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHttpCounts } from '#http/counts.ts'
import { missingData } from '#store/failures.ts'
import type { Store } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { spokenNode } from '#test/support/nodes/spoken-node.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'
import { systemClock } from '#time/clock.ts'

const { store, destroy } = await temporarySqlite()
beforeAll(() => store.create())
afterAll(destroy)

test('/health works without a store or node', async () => {
  const { ask } = serviceOn(store)
  const response = await ask('/health')
  expect([response.status, await response.json()]).toEqual([200, { status: 'ok', version: '0.0.0-test' }])
})

const published = (height: number, lib: number): Store => ({
  ...store,
  published: async () => ({ height, hash: 'h', time: MADE, lib }),
})
/** 40 seconds after that block. */
const now = (): number => 1_795_249_572_500
const state = {
  time: '2026-11-21T08:25:32.500Z',
  whole: true,
  behind_seconds: null as number | null,
  lag_seconds: 40 as number | null,
  node_heard: '2026-11-21T08:26:12.500Z' as string | null,
  version: '0.0.0-test',
}
const MADE = 1_795_249_532_500_123_456n

test('/ready: the status is 503 until there is a store, and until a height is published', async () => {
  const nowhere = await serviceOn(openSqlite({ path: '/nowhere/iostlens.sqlite' })).ask('/ready')
  expect([nowhere.status, await nowhere.json()]).toMatchObject([
    503,
    { reason: expect.stringContaining('The store does not exist') },
  ])
  const response = await serviceOn(store).ask('/ready')
  expect([response.status, await response.json()]).toEqual([
    503,
    { ready: false, reason: 'Nothing is loaded yet.', version: '0.0.0-test' },
  ])
})

const readyBeside = (
  at: Store,
  libBlock: number | undefined,
  {
    heardAgo = 0,
    ...over
  }: { readonly heardAgo?: number | undefined; readonly maxLagMs?: number; readonly readyNeedsNode?: boolean } = {},
) =>
  serviceOn(at, {
    now,
    ...over,
    node: {
      ...spokenNode({}, { libBlock: libBlock ?? 0, libTime: MADE + 500_000_000_000n }),
      ...(libBlock === undefined ? { lastInfo: () => undefined } : {}),
      reportAgeMs: () => heardAgo,
    },
  }).ask('/ready')

const STRICT = { readyNeedsNode: true }

test('/ready: faults of the node and of loading leave the status at 200', async () => {
  const at = published(4_000, 4_000)
  for (const libBlock of [undefined, 2_999, 5_001, 1_000_000])
    expect([libBlock, (await readyBeside(at, libBlock, { heardAgo: 90_000 })).status]).toEqual([libBlock, 200])
  const foreign = await serviceOn(at, {
    now,
    node: {
      ...spokenNode({}),
      lastInfo: () => undefined,
      whyUnfit: () => ({ is: 'foreign', why: 'chain 7', node: 'a' }),
    },
  }).ask('/ready')
  expect([foreign.status, await foreign.json()]).toMatchObject([200, { ready: true, node: 'foreign' }])
})

test('/ready with --ready-needs-node: the status is 200 up to 1,000 blocks behind', async () => {
  const near = await readyBeside(published(4_000, 4_000), 5_000, STRICT)
  expect([near.status, await near.json()]).toEqual([
    200,
    {
      ready: true,
      height: 4_000,
      lib: 5_000,
      behind: 1_000,
      node: 'reachable',
      ...state,
      behind_seconds: 500,
    },
  ])
  const far = await readyBeside(published(4_000, 4_000), 5_001, STRICT)
  expect([far.status, await far.json()]).toEqual([
    503,
    {
      ready: false,
      reason: 'Loading is more than 1000 blocks behind the chain.',
      height: 4_000,
      lib: 5_001,
      behind: 1_001,
      node: 'reachable',
      ...state,
      behind_seconds: 500,
    },
  ])
})

test('/ready with --ready-needs-node: the distance is absent while no node reports the head', async () => {
  const silent = await readyBeside(published(4_000, 4_000), undefined, { ...STRICT, heardAgo: 90_000 })
  expect([silent.status, await silent.json()]).toEqual([
    503,
    {
      ready: false,
      reason: 'No node responds, so it is unknown how far loading is behind the chain.',
      height: 4_000,
      lib: 4_000,
      behind: null,
      node: 'unreachable',
      ...state,
      node_heard: '2026-11-21T08:24:42.500Z',
    },
  ])
  const lagging = await readyBeside(published(4_000, 4_000), 2_999, STRICT)
  expect([lagging.status, await lagging.json()]).toEqual([
    503,
    {
      ready: false,
      reason: 'The node is behind the loaded blocks, so it is unknown how far loading is behind the chain.',
      height: 4_000,
      lib: 4_000,
      behind: null,
      node: 'reachable',
      ...state,
    },
  ])
  expect((await readyBeside(published(4_000, 4_000), 3_000, STRICT)).status).toBe(200)
  const none = await serviceOn(published(4_000, 4_000), { now, ...STRICT }).ask('/ready')
  expect([none.status, await none.json()]).toEqual([
    200,
    { ready: true, height: 4_000, lib: 4_000, behind: null, node: 'none', ...state, node_heard: null },
  ])
  const far = await serviceOn(published(4_000, 5_001), STRICT).ask('/ready')
  expect(far.status).toBe(503)
})

test('/ready: a node that never answered has no time, and one with the last block is 0 seconds ahead', async () => {
  const never = spokenNode({})
  const response = await serviceOn(published(4_000, 4_000), {
    now,
    node: { ...never, lastInfo: () => undefined, reportAgeMs: () => undefined },
  }).ask('/ready')
  expect(await response.json()).toMatchObject({ node: 'unreachable', node_heard: null, behind: null })
  const equal = await readyBeside(published(4_000, 4_000), 4_000)
  expect(await equal.json()).toMatchObject({ behind: 0, behind_seconds: 0, lag_seconds: 40 })
})

test('/ready: beyond --max-lag the status is 503, with a node that reports a completed load and without one', async () => {
  const at = published(4_000, 4_000)
  expect((await readyBeside(at, 4_000, { maxLagMs: 40_000 })).status).toBe(200)
  const old = await readyBeside(at, 4_000, { maxLagMs: 39_999 })
  expect([old.status, await old.json()]).toEqual([
    503,
    {
      ready: false,
      reason: 'The last loaded block is older than 39.999 seconds (--max-lag).',
      height: 4_000,
      lib: 4_000,
      behind: 0,
      node: 'reachable',
      ...state,
      behind_seconds: 0,
    },
  ])
  expect((await serviceOn(at, { now, maxLagMs: 39_999 }).ask('/ready')).status).toBe(503)
})

test('/ready: the age of a block is absent if the clock is before it', async () => {
  const at = published(4_000, 4_000)
  const past = { now: () => now() - 3_600_000 }
  const free = await serviceOn(at, past).ask('/ready')
  expect([free.status, await free.json()]).toEqual([
    200,
    {
      ready: true,
      height: 4_000,
      lib: 4_000,
      behind: null,
      node: 'none',
      ...state,
      lag_seconds: null,
      node_heard: null,
    },
  ])
  const held = await serviceOn(at, { ...past, maxLagMs: 60_000 }).ask('/ready')
  expect(held.status).toBe(503)
  expect(await held.json()).toMatchObject({
    reason: "The machine's clock is before the last loaded block, so the age of that block is unknown.",
  })
})

test('damage that an answer meets is in /ready, /status and the alert until the store was unusable and is back', async () => {
  const at = published(4_000, 4_000)
  const counts = createHttpCounts()
  const service = serviceOn(
    { ...at, read: () => Promise.reject(missingData('Block 7 is missing.')) },
    { now, counts, explorer: true },
  )
  const seen = async () => {
    const ready = await service.ask('/ready')
    const status = await service.ask('/status', { headers: { accept: 'application/json' } })
    type Seen = { readonly whole: boolean; readonly troubles: readonly object[] }
    const [found, { whole, troubles }] = [(await ready.json()) as Seen, (await status.json()) as Seen]
    return [ready.status, found.whole, whole, troubles.length]
  }
  expect(await seen()).toEqual([200, true, true, 0])
  const page = await service.ask(`/api/base/get-wealth-list?apikey=${service.key}`)
  expect(page.status).toBe(503)
  expect(await seen()).toEqual([200, false, false, 1])
  counts.damageMet.set(0)
  expect(await seen()).toEqual([200, true, true, 0])
  for (const path of ['/account/admin', `/api/account/get-account-tx?account=admin&format=csv&apikey=${service.key}`]) {
    expect([path, (await service.ask(path)).status]).toEqual([path, 503])
    expect([path, await seen()]).toEqual([path, [200, false, false, 1]])
    counts.damageMet.set(0)
  }
})

test('/ready: a hanging store is 503 long before the deadline', async () => {
  const hanging: Store = { ...store, published: () => new Promise(() => {}) }
  const response = await serviceOn(hanging, { deadlineMs: 60_000, clock: systemClock }).ask('/ready')
  expect([response.status, await response.json()]).toEqual([
    503,
    { ready: false, reason: 'The store cannot be read.', version: '0.0.0-test' },
  ])
})

test('/ready: the store is read at most twice a second', async () => {
  let asked = 0
  let time = 0
  const { ask } = serviceOn(
    {
      ...store,
      published: async () => {
        asked++
        return undefined
      },
    },
    { now: () => time },
  )
  for (let again = 0; again < 10; again++) await ask('/ready')
  time = 500
  await ask('/ready')
  expect(asked).toBe(2)
})

test('/ready: an answer is not cached longer when the machine’s clock is set back', async () => {
  let asked = 0
  let set = 0
  const clock = handClock()
  const { ask } = serviceOn(
    {
      ...store,
      published: async () => {
        asked++
        return undefined
      },
    },
    { clock: { ...clock, now: () => clock.now() + set } },
  )
  await ask('/ready')
  clock.leap(500)
  set = -3_600_000
  await ask('/ready')
  expect(asked).toBe(2)
})
