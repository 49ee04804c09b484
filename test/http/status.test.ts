import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { spokenNode } from '#test/support/nodes/spoken-node.ts'
import { serviceOn } from '#test/support/processes/service.ts'

let folder: string
let store: Store

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'iostlens-status-'))
  store = openSqlite({ path: join(folder, 'store.sqlite') })
  await store.create()
})
afterAll(async () => {
  await store.close()
  await rm(folder, { recursive: true })
})

test('/health needs neither store nor node', async () => {
  const { ask } = serviceOn(store)
  const response = await ask('/health')
  expect([response.status, await response.json()]).toEqual([200, { status: 'ok', version: '0.0.0-test' }])
})

const published = (height: number, lib: number): Store => ({
  ...store,
  published: async () => ({ height, hash: 'h', time: 1_795_249_532_500_123_456n, lib }),
})
const state = { time: '2026-11-21T08:25:32.500Z', version: '0.0.0-test' }

test('/ready: 503 until something is published', async () => {
  const response = await serviceOn(store).ask('/ready')
  expect([response.status, await response.json()]).toEqual([
    503,
    { ready: false, reason: 'Nothing is loaded yet.', version: '0.0.0-test' },
  ])
})

const readyBeside = (at: Store, libBlock: number | undefined) =>
  serviceOn(at, {
    node:
      libBlock === undefined ? { ...spokenNode({}), heard: () => undefined } : spokenNode({}, { libBlock }),
  }).ask('/ready')

test('/ready: 200 up to 1,000 blocks behind', async () => {
  const near = await readyBeside(published(4_000, 4_000), 5_000)
  expect([near.status, await near.json()]).toEqual([
    200,
    { ready: true, height: 4_000, lib: 5_000, behind: 1_000, node: 'reachable', ...state },
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
    },
  ])
})

test('/ready: the distance is not given while no node reports the head', async () => {
  const silent = await readyBeside(published(4_000, 4_000), undefined)
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
  const none = await serviceOn(published(4_000, 4_000)).ask('/ready')
  expect([none.status, await none.json()]).toEqual([
    200,
    { ready: true, height: 4_000, lib: 4_000, behind: null, node: 'none', ...state },
  ])
  const far = await serviceOn(published(4_000, 5_001)).ask('/ready')
  expect(far.status).toBe(503)
})

test('/ready: a store that hangs is 503, long before the deadline', async () => {
  const hanging: Store = { ...store, published: () => new Promise(() => {}) }
  const response = await serviceOn(hanging, { deadlineMs: 60_000 }).ask('/ready')
  expect([response.status, await response.json()]).toEqual([
    503,
    { ready: false, reason: 'The store cannot be read.', version: '0.0.0-test' },
  ])
})

test('/ready: asks the store at most twice a second', async () => {
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

test("/ready: an answer is not kept longer when the machine's clock is set back", async () => {
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
