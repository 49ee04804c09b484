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

/** A node by its last irreversible block and the time since it was heard. */
type NodeState = { readonly lib: number | undefined; readonly heardAgo?: number | undefined }
type Options = { readonly maxLagMs?: number; readonly readyNeedsNode?: boolean; readonly now?: () => number }

const nodeOf = ({ lib, ...state }: NodeState) => ({
  ...spokenNode({}, { libBlock: lib ?? 0, libTime: MADE + 500_000_000_000n }),
  ...(lib === undefined ? { lastInfo: () => undefined } : {}),
  reportAgeMs: () => ('heardAgo' in state ? state.heardAgo : 0),
})
const STRICT = { readyNeedsNode: true }
const EARLY = { now: () => now() - 3_600_000 }
const SILENT = { lib: undefined, heardAgo: 90_000 }
const NO_NODE = { node: 'none', node_heard: null }
const FAR = { lib: 5_001, behind: 1_001, behind_seconds: 500 }

/** Whether block 4,000 is ready beside a node, why not, and what else the answer has. */
const READINESS: readonly (readonly [Options, NodeState | undefined, reason: string | undefined, more: object])[] = [
  [{}, SILENT, undefined, { node: 'unreachable', node_heard: '2026-11-21T08:24:42.500Z' }],
  [{}, { lib: undefined, heardAgo: undefined }, undefined, { node: 'unreachable', node_heard: null }],
  [{}, { lib: 2_999 }, undefined, {}],
  [{}, { lib: 4_000 }, undefined, { behind: 0, behind_seconds: 0 }],
  [{}, { lib: 5_001 }, undefined, FAR],
  [STRICT, { lib: 5_000 }, undefined, { lib: 5_000, behind: 1_000, behind_seconds: 500 }],
  [STRICT, { lib: 5_001 }, 'Loading is more than 1000 blocks behind the chain.', FAR],
  [
    STRICT,
    SILENT,
    'No node responds, so it is unknown how far loading is behind the chain.',
    { node: 'unreachable', node_heard: '2026-11-21T08:24:42.500Z' },
  ],
  [
    STRICT,
    { lib: 2_999 },
    'The node is behind the loaded blocks, so it is unknown how far loading is behind the chain.',
    {},
  ],
  [STRICT, { lib: 3_000 }, undefined, { behind: 0, behind_seconds: 0 }],
  [STRICT, undefined, undefined, NO_NODE],
  [{ maxLagMs: 40_000 }, { lib: 4_000 }, undefined, { behind: 0, behind_seconds: 0 }],
  [
    { maxLagMs: 39_999 },
    { lib: 4_000 },
    'The last loaded block is older than 39.999 seconds (--max-lag).',
    { behind: 0, behind_seconds: 0 },
  ],
  [{ maxLagMs: 39_999 }, undefined, 'The last loaded block is older than 39.999 seconds (--max-lag).', NO_NODE],
  [EARLY, undefined, undefined, { ...NO_NODE, lag_seconds: null }],
  [
    { ...EARLY, maxLagMs: 60_000 },
    undefined,
    "The machine's clock is before the last loaded block, so the age of that block is unknown.",
    { ...NO_NODE, lag_seconds: null },
  ],
]

test.each(READINESS)('/ready: with %p beside %p: %p', async (...given) => {
  const [options, beside, reason, more] = given
  const node = beside === undefined ? {} : { node: nodeOf(beside) }
  const response = await serviceOn(published(4_000, 4_000), { now, ...options, ...node }).ask('/ready')
  expect([response.status, await response.json()]).toEqual([
    reason === undefined ? 200 : 503,
    {
      ...(reason === undefined ? { ready: true } : { ready: false, reason }),
      ...{ height: 4_000, lib: 4_000, behind: null, node: 'reachable' },
      ...state,
      ...more,
    },
  ])
})

test('/ready: a node of another chain leaves the status at 200', async () => {
  const node = {
    ...nodeOf({ lib: undefined }),
    whyUnfit: () => ({ is: 'foreign', why: 'chain 7', node: 'a' }) as const,
  }
  const foreign = await serviceOn(published(4_000, 4_000), { now, node }).ask('/ready')
  expect([foreign.status, await foreign.json()]).toMatchObject([200, { ready: true, node: 'foreign' }])
})

test('/ready with --ready-needs-node: without a node the last irreversible block of the load counts', async () => {
  expect((await serviceOn(published(4_000, 5_001), STRICT).ask('/ready')).status).toBe(503)
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
