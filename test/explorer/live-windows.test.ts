import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { until } from '#test/support/wait.ts'
import { systemClock } from '#time/clock.ts'
import { type Browser, startBrowser } from '../support/browser/browser.ts'
import type { Page } from '../support/browser/page.ts'
import { servedBehind } from '../support/browser/served.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { type Service, serviceOn } from '../support/processes/service.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { temporarySqlite } from '../support/stores/loading.ts'

/** A browser opens six connections to a host over HTTP/1.1. A window that held one would leave none for the seventh. */

// The first run may download the browser. A test that hangs still ends.
setDefaultTimeout(600_000)

let browser: Browser
beforeAll(async () => {
  browser = await startBrowser()
})
afterAll(() => browser.close())

/** Counts the streams that a service has open, and those that it ever had. */
function countStreams(service: Service) {
  const streams = { open: 0, ever: 0 }
  const handle = async (request: Request): Promise<Response> => {
    if (new URL(request.url).pathname === '/live') {
      streams.ever += 1
      streams.open += 1
      request.signal.addEventListener('abort', () => {
        streams.open -= 1
      })
    }
    return service.app.handle(request)
  }
  return { streams, served: { ...service, app: { handle } as Service['app'] } }
}

/** Hides a window, or shows it again. */
const seen = (isSeen: boolean): string => `{
  Object.defineProperty(document, 'hidden', { value: ${!isSeen}, configurable: true })
  document.dispatchEvent(new Event('visibilitychange'))
}`
const FIRST = "document.querySelector('table[data-live] tbody td').textContent"
const STATE = "document.querySelector('.live').dataset.state"
const isAt = (height: number): string => `${STATE} === 'on' && ${FIRST} === '${height}'`

test('live: nine visible windows of one browser load and follow the height with one stream, also below a base path', async () => {
  const { store, destroy } = await temporarySqlite()
  const blocks = await recordedBlocks()
  const last = Number((blocks[70]?.block.time ?? 0n) / 1_000_000n)
  const { streams, served } = countStreams(
    serviceOn(store, { explorer: true, clock: { ...systemClock, now: () => last } }),
  )
  await using chain = servedBehind('/behind/a/proxy/', served)
  let windows: readonly Page[] = []
  const inEach = (work: (page: Page) => Promise<void>) => Promise.all(windows.map(work))
  await commitRuns(store, [blocks.slice(0, 61), blocks.slice(61, 62), blocks.slice(62, 71)], {
    lib: 80,
    onCommitted: async height => {
      if (height === 60) {
        windows = await browser.openWindows(9)
        await inEach(async page => {
          await page.go(`${chain.url}blocks`)
          await page.run(seen(true))
        })
      }
      await inEach(page => page.until(isAt(height)))
      expect(streams).toEqual({ open: 1, ever: 1 })
    },
  })
  for (const page of windows) expect(page.said).toEqual([])
  // The stream lasts as long as a window is visible.
  for (const page of windows.slice(1)) await page.run(seen(false))
  expect(await windows[0]?.run<string>(STATE)).toBe('on')
  expect(streams).toEqual({ open: 1, ever: 1 })
  await windows[0]?.run(seen(false))
  await until(() => streams.open === 0)
  await windows[3]?.run(seen(true))
  await windows[3]?.until(isAt(70))
  await until(() => streams.open === 1)
  expect(streams.ever).toBe(2)
  await windows[0]?.close()
  await destroy()
})
