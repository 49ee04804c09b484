import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Store } from '#store/port.ts'
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
  behind_seconds: null as number | null,
  lag_seconds: 40 as number | null,
  node_heard: '2026-11-21T08:26:12.500Z' as string | null,
  version: '0.0.0-test',
}
const MADE = 1_795_249_532_500_123_456n

test('/ready: the status is 503 until a height is published', async () => {
  const response = await serviceOn(store).ask('/ready')
  expect([response.status, await response.json()]).toEqual([
    503,
    { ready: false, reason: 'Nothing is loaded yet.', version: '0.0.0-test' },
  ])
})

const readyBeside = (
  at: Store,
  libBlock: number | undefined,
  { heardAgo = 0, ...over }: { readonly heardAgo?: number | undefined; readonly maxLagMs?: number } = {},
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

test('/ready: the status is 200 up to 1,000 blocks behind', async () => {
  const near = await readyBeside(published(4_000, 4_000), 5_000)
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
  const far = await readyBeside(published(4_000, 4_000), 5_001)
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

test('/ready: the distance is absent while no node reports the head', async () => {
  const silent = await readyBeside(published(4_000, 4_000), undefined, { heardAgo: 90_000 })
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
  const lagging = await readyBeside(published(4_000, 4_000), 2_999)
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
  expect((await readyBeside(published(4_000, 4_000), 3_000)).status).toBe(200)
  const none = await serviceOn(published(4_000, 4_000), { now }).ask('/ready')
  expect([none.status, await none.json()]).toEqual([
    200,
    { ready: true, height: 4_000, lib: 4_000, behind: null, node: 'none', ...state, node_heard: null },
  ])
  const far = await serviceOn(published(4_000, 5_001)).ask('/ready')
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
    reason: "This machine's clock is before the last loaded block, so the age of that block is unknown.",
  })
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
