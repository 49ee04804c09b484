import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import { createHttpCounts } from '#http/counts.ts'
import { missingData } from '#store/failures.ts'
import type { Store } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { auditPage } from '#test/support/browser/axe.ts'
import { shareBrowser } from '#test/support/browser/browser.ts'
import { servedBehind } from '#test/support/browser/served.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { spokenNode } from '#test/support/nodes/spoken-node.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'
import { systemClock } from '#time/clock.ts'

/** `/health`, `/ready` and `/status`, of a service whose store says what it has. */

const { store, destroy } = await temporarySqlite()
beforeAll(() => store.create())
afterAll(destroy)

const MADE_MS = 1_795_249_532_500
const MADE = 1_795_249_532_500_123_456n
/** 40 seconds after that block. */
const now = (): number => MADE_MS + 40_000
const at = (published: Store['published']): Store => ({ ...store, published })
const published = (height: number, lib = height): Store => at(async () => ({ height, hash: 'h', time: MADE, lib }))
const JSON_ONLY = { accept: 'application/json' }

type Options = NonNullable<Parameters<typeof serviceOn>[1]>

async function readStatus(of: Store, options: Options = {}) {
  const response = await serviceOn(of, { now, ...options }).get('/status', JSON_ONLY)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
  return (await response.json()) as object
}

async function readReady(of: Store, options: Options = {}) {
  const response = await serviceOn(of, { now, ...options }).ask('/ready')
  return [response.status, await response.json()]
}

/** A node by its last irreversible block and the time since it was heard. */
type NodeState = { readonly lib: number | undefined; readonly heardAgo?: number | undefined }

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
const NEAR = { behind: 0, behind_seconds: 0 }
const UNHEARD = { node: 'unreachable', node_heard: '2026-11-21T08:24:42.500Z' }
const UNKNOWN = 'so it is unknown how far loading is behind the chain.'
const OLD = 'The last loaded block is older than 39.999 seconds (--max-lag).'
const AHEAD = "The machine's clock is before the last loaded block, so the age of that block is unknown."

test('/ready: the status is 503 until there is a store, and until a height is published', async () => {
  const nowhere = openSqlite({ path: '/nowhere/iostlens.sqlite' })
  expect(await readReady(nowhere)).toMatchObject([503, { reason: expect.stringContaining('The store does not exist') }])
  const empty = { ready: false, reason: 'Nothing is loaded yet.', version: '0.0.0-test' }
  expect(await readReady(store)).toEqual([503, empty])
})

/** Whether block 4,000 is ready beside a node, why not, and what else the answer has. */
const READINESS: readonly (readonly [Options, NodeState | undefined, reason: string | undefined, more: object])[] = [
  [{}, SILENT, undefined, UNHEARD],
  [{}, { lib: undefined, heardAgo: undefined }, undefined, { node: 'unreachable', node_heard: null }],
  [{}, { lib: 2_999 }, undefined, {}],
  [{}, { lib: 4_000 }, undefined, NEAR],
  [{}, { lib: 5_001 }, undefined, FAR],
  [STRICT, { lib: 5_000 }, undefined, { lib: 5_000, behind: 1_000, behind_seconds: 500 }],
  [STRICT, { lib: 5_001 }, 'Loading is more than 1000 blocks behind the chain.', FAR],
  [STRICT, SILENT, `No node responds, ${UNKNOWN}`, UNHEARD],
  [STRICT, { lib: 2_999 }, `The node is behind the loaded blocks, ${UNKNOWN}`, {}],
  [STRICT, { lib: 3_000 }, undefined, NEAR],
  [STRICT, undefined, undefined, NO_NODE],
  [{ maxLagMs: 40_000 }, { lib: 4_000 }, undefined, NEAR],
  [{ maxLagMs: 39_999 }, { lib: 4_000 }, OLD, NEAR],
  [{ maxLagMs: 39_999 }, undefined, OLD, NO_NODE],
  [EARLY, undefined, undefined, { ...NO_NODE, lag_seconds: null }],
  [{ ...EARLY, maxLagMs: 60_000 }, undefined, AHEAD, { ...NO_NODE, lag_seconds: null }],
]

test.each(READINESS)('/ready: with %p beside %p: %p', async (...given) => {
  const [options, beside, reason, more] = given
  const node = beside === undefined ? {} : { node: nodeOf(beside) }
  expect(await readReady(published(4_000), { ...options, ...node })).toEqual([
    reason === undefined ? 200 : 503,
    {
      ...(reason === undefined ? { ready: true } : { ready: false, reason }),
      ...{ height: 4_000, lib: 4_000, time: '2026-11-21T08:25:32.500Z', lag_seconds: 40, whole: true },
      ...{ behind: null, behind_seconds: null, node: 'reachable', node_heard: '2026-11-21T08:26:12.500Z' },
      ...{ version: '0.0.0-test', ...more },
    },
  ])
})

test('/ready: a node of another chain leaves the status at 200', async () => {
  const whyUnfit = () => ({ is: 'foreign', why: 'chain 7', node: 'a' }) as const
  const node = { ...nodeOf({ lib: undefined }), whyUnfit }
  expect(await readReady(published(4_000), { node })).toMatchObject([200, { ready: true, node: 'foreign' }])
})

test('/ready with --ready-needs-node: without a node the last irreversible block of the load counts', async () => {
  expect((await readReady(published(4_000, 5_001), STRICT))[0]).toBe(503)
})

test('/ready: a hanging store is 503 long before the deadline', async () => {
  const hanging = at(() => new Promise(() => {}))
  const unread = { ready: false, reason: 'The store cannot be read.', version: '0.0.0-test' }
  expect(await readReady(hanging, { deadlineMs: 60_000, clock: systemClock })).toEqual([503, unread])
})

test('/ready: the store is read at most twice a second, and not less often when the machine’s clock is set back', async () => {
  let asked = 0
  let set = 0
  const clock = handClock()
  const counted = at(async () => void asked++)
  const { ask } = serviceOn(counted, { clock: { ...clock, now: () => clock.now() + set } })
  for (let again = 0; again < 10; again++) await ask('/ready')
  expect(asked).toBe(1)
  clock.leap(500)
  set = -3_600_000
  await ask('/ready')
  expect(asked).toBe(2)
})

test('damage that an answer meets is in /ready, /status and the alert until the store was unusable and is back', async () => {
  const counts = createHttpCounts()
  const damaged = { ...published(4_000), read: () => Promise.reject(missingData('Block 7 is missing.')) }
  const { get } = serviceOn(damaged, { now, counts, explorer: true })
  const seen = async () => {
    const [ready, status] = [await get('/ready'), await get('/status', JSON_ONLY)]
    const { whole, troubles } = JSON.parse(await status.text())
    return [ready.status, JSON.parse(await ready.text()).whole, whole, troubles.length]
  }
  expect(await seen()).toEqual([200, true, true, 0])
  const exported = '/api/account/get-account-tx?account=admin&format=csv'
  for (const path of ['/api/base/get-wealth-list', '/account/admin', exported]) {
    expect([path, (await get(path)).status]).toEqual([path, 503])
    expect([path, await seen()]).toEqual([path, [200, false, false, 1]])
    counts.damageMet.set(0)
    expect(await seen()).toEqual([200, true, true, 0])
  }
})

const node = { ...nodeOf({ lib: 4_002 }), reportAgeMs: () => 500 }

test('/status: JSON is returned on request, with no problem', async () => {
  expect(await readStatus(published(4_000), { node })).toEqual({
    ...{ version: '0.0.0-test', since: '2026-11-21T08:26:12.500Z', blocks_per_second: null },
    ...{ height: 4_000, lib: 4_002, time: '2026-11-21T08:25:32.500Z', lag_seconds: 40 },
    ...{ behind: 2, behind_seconds: 500, node: 'reachable', node_heard: '2026-11-21T08:26:12.000Z' },
    ...{ whole: true, troubles: [] },
  })
})

test('/status: blocks per second are measured since the first request', async () => {
  let height = 4_000
  let time = now()
  const growing = at(async () => ({ height, hash: 'h', time: MADE, lib: height }))
  const { get } = serviceOn(growing, { now: () => time })
  await get('/status')
  time += 10_000
  height += 25
  expect(await (await get('/status', JSON_ONLY)).json()).toMatchObject({ blocks_per_second: 2.5 })
})

const nothing = { ...at(async () => undefined), checkShape: async () => [] }
const away = { node: { ...node, lastInfo: () => undefined } }
const failing = (kind: 'unavailable' | 'damaged') => at(() => Promise.reject(new Failure(kind, 'secret place')))

test.each<readonly [string, Store, Options, ...troubles: readonly string[]]>([
  ['an empty store', nothing, {}, 'Nothing is loaded yet.'],
  ['a store out of reach', failing('unavailable'), {}, 'The store cannot be read.'],
  ['a damaged store', failing('damaged'), {}, 'Part of the store is lost or damaged.'],
  ['a silent node', published(4_000), away, `No node responds, ${UNKNOWN}`],
  ['old blocks', published(4_000), { node, now: () => MADE_MS + 301_000 }, 'The last loaded block is old.'],
  ['a wrong clock', published(4_000), { node, now: () => MADE_MS - 60_000 }, AHEAD],
  ['both', nothing, away, 'Nothing is loaded yet.', 'No node responds, so nothing can be loaded.'],
])('/status: %s is shown with a remedy', async (_, of, over, ...troubles) => {
  const told = await readStatus(of, over)
  const expected = troubles.map(what => ({ what, help: expect.any(String), what_zh: expect.any(String) }))
  expect(told).toMatchObject({ troubles: expected })
  expect(JSON.stringify(told)).not.toContain('secret')
  const { ask } = serviceOn(of, { now, ...over })
  expect(await (await ask('/status?lang=zh')).text()).toContain('存在问题')
})

test('/status: without a node the page says that the distance to the head is unknown', async () => {
  expect(await readStatus(published(4_000))).toMatchObject({ behind: null, node: 'none', troubles: [] })
  const { ask } = serviceOn(published(4_000), { now })
  expect(await (await ask('/status')).text()).toContain('unknown: this service follows no node')
})

test('/status in a browser: in both languages, wide and narrow, light and dark, it has no error and is accessible', async () => {
  const browser = await shareBrowser()
  for (const [at, width] of (SOAK ? [360, 768, 1400] : [360, 1400]).entries())
    for (const lang of ['en', 'zh']) {
      const scheme = (at % 2 === 0) === (lang === 'en') ? 'light' : 'dark'
      const old = { now: () => MADE_MS + 301_000, node, explorer: lang === 'zh' }
      await using served = servedBehind('/', serviceOn(published(4_000), old))
      const page = await browser.open({ width, scheme })
      await page.go(`${served.url}status?lang=${lang}`)
      // The audit takes long: at one width in every run.
      const found = SOAK || width === 360 ? await auditPage(page, { isStrict: true }) : []
      expect([lang, width, scheme, found]).toEqual([lang, width, scheme, []])
      expect(await page.run<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
      expect(page.said).toEqual([])
      await page.close()
    }
})
