import { beforeAll, expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import type { Store } from '#store/port.ts'
import { auditPage } from '../support/browser/axe.ts'
import { shareBrowser } from '../support/browser/browser.ts'
import { servedBehind } from '../support/browser/served.ts'
import { spokenNode } from '../support/nodes/spoken-node.ts'
import { serviceOn } from '../support/processes/service.ts'
import { SOAK } from '../support/processes/soak.ts'
import { loadedStore } from '../support/stores/loaded.ts'

const MADE = 1_795_249_532_500
const HEIGHT = 4_000
let store: Store
beforeAll(async () => {
  store = await loadedStore()
})

const at = (published: Store['published']): Store => ({ ...store, published })
const loaded = at(async () => ({ height: HEIGHT, hash: 'h', time: BigInt(MADE) * 1_000_000n, lib: HEIGHT }))
const now = (): number => MADE + 40_000
const JSON_ONLY = { headers: { accept: 'application/json' } }
const node = {
  ...spokenNode({}, { libBlock: HEIGHT + 2, libTime: BigInt(MADE + 1_000) * 1_000_000n }),
  reportAgeMs: () => 500,
}

test('/status: JSON is returned on request, with no problem', async () => {
  const response = await serviceOn(loaded, { now, node }).ask('/status', JSON_ONLY)
  expect([response.status, response.headers.get('content-type'), await response.json()]).toEqual([
    200,
    'application/json; charset=utf-8',
    {
      version: '0.0.0-test',
      since: '2026-11-21T08:26:12.500Z',
      whole: true,
      height: HEIGHT,
      time: '2026-11-21T08:25:32.500Z',
      lib: HEIGHT + 2,
      behind: 2,
      behind_seconds: 1,
      lag_seconds: 40,
      node: 'reachable',
      node_heard: '2026-11-21T08:26:12.000Z',
      blocks_per_second: null,
      troubles: [],
    },
  ])
})

test('/status: blocks per second are measured since the first request', async () => {
  let height = HEIGHT
  let time = now()
  const growing = at(async () => ({ height, hash: 'h', time: BigInt(MADE) * 1_000_000n, lib: height }))
  const { ask } = serviceOn(growing, { now: () => time })
  await ask('/status')
  time += 10_000
  height += 25
  expect(await (await ask('/status', JSON_ONLY)).json()).toMatchObject({ blocks_per_second: 2.5 })
})

const troubles = {
  'an empty store': [{ ...at(async () => undefined), checkShape: async () => [] }, {}, 'Nothing is loaded yet.'],
  'a store out of reach': [
    at(() => Promise.reject(new Failure('unavailable', 'secret place'))),
    {},
    'The store cannot be read.',
  ],
  'a damaged store': [
    at(() => Promise.reject(new Failure('damaged', 'lost'))),
    {},
    'Part of the store is lost or damaged.',
  ],
  'a silent node': [
    loaded,
    { node: { ...node, lastInfo: () => undefined } },
    'No node responds, so it is unknown how far loading is behind the chain.',
  ],
  'old blocks': [loaded, { node, now: () => MADE + 301_000 }, 'The last loaded block is old.'],
  'a wrong clock': [
    loaded,
    { node, now: () => MADE - 60_000 },
    "The machine's clock is before the last loaded block, so the age of that block is unknown.",
  ],
} as const

test.each(Object.entries(troubles))('/status: %s is shown with a remedy', async (_, [of, over, what]) => {
  const { ask } = serviceOn(of, { now, ...over })
  const told = await (await ask('/status', JSON_ONLY)).json()
  expect(told).toMatchObject({ troubles: [{ what, help: expect.any(String), what_zh: expect.any(String) }] })
  expect(JSON.stringify(told)).not.toContain('secret')
  const zh = await (await ask('/status?lang=zh')).text()
  expect(zh).toContain('存在问题')
})

test('/status: a service without blocks that cannot reach its node shows both problems', async () => {
  const { ask } = serviceOn(
    at(async () => undefined),
    { now, node: { ...node, lastInfo: () => undefined } },
  )
  const told = await (await ask('/status', JSON_ONLY)).json()
  expect(told).toMatchObject({
    troubles: [{ what: 'Nothing is loaded yet.' }, { what: 'No node responds, so nothing can be loaded.' }],
  })
})

test('/status: without a node the page says that the distance to the head is unknown', async () => {
  const { ask } = serviceOn(loaded, { now })
  expect(await (await ask('/status', JSON_ONLY)).json()).toMatchObject({
    behind: null,
    node: 'none',
    troubles: [],
  })
  expect(await (await ask('/status')).text()).toContain('unknown: this service follows no node')
})

test('/status: a slash at its end redirects to the page with the same query', async () => {
  const response = await serviceOn(loaded, { now }).ask('/status/?lang=zh')
  expect([response.status, response.headers.get('location')]).toEqual([302, '../status?lang=zh'])
})

test('/status in a browser: both languages, at three widths, light and dark, are without errors and accessible', async () => {
  const browser = await shareBrowser()
  for (const [at, width] of [360, 768, 1400].entries())
    for (const lang of ['en', 'zh']) {
      const scheme = (at % 2 === 0) === (lang === 'en') ? 'light' : 'dark'
      const old = { now: () => MADE + 301_000, node, explorer: lang === 'zh' }
      await using served = servedBehind('/', serviceOn(loaded, old))
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
