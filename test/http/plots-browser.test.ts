import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { toIso } from '#chain/time.ts'
import { type Browser, startBrowser } from '../support/browser/browser.ts'
import type { Page } from '../support/browser/page.ts'
import { servedBehind } from '../support/browser/served.ts'
import { serviceOn } from '../support/processes/service.ts'
import { seeded } from '../support/seeded.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { votedChain } from '../support/stores/voted-chain.ts'

// The browser may have to be fetched; a test that hangs still ends.
setDefaultTimeout(300_000)

let browser: Browser
beforeAll(async () => {
  browser = await startBrowser()
})
afterAll(() => browser.close())

/** What the plot writes on its canvas when it is drawn anew for another width. */
const labelsOn = async (page: Page, width: number): Promise<readonly string[]> => {
  await page.until("document.querySelector('figure.drawn') !== null")
  await page.run(`{
    globalThis.labels = []
    const { fillText } = CanvasRenderingContext2D.prototype
    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
      labels.push(text)
      return fillText.call(this, text, ...rest)
    }
  }`)
  await page.resize(width)
  await page.until('labels.length > 0')
  return page.run('labels.filter(text => text !== "")')
}

test('plots in a browser: a chain that is a day old has one narrow bar and no day to come', async () => {
  const { store, destroy } = await temporarySqlite()
  const blocks = votedChain(seeded(11), { quiet: 1, busy: 1 }).slice(0, 1)
  await commitRuns(store, [blocks], { lib: 0 })
  const day = toIso(blocks[0]?.block.time ?? 0n).slice(5, 10)
  await using served = servedBehind('/', serviceOn(store, { explorer: true }))
  const page = await browser.open()
  await page.letRun(false)
  await page.go(`${served.url}statistics/transactions`)
  const bar = await page.run<number>(`{
    const svg = document.querySelector('figure.plot svg')
    svg.querySelector('path').getBoundingClientRect().width / svg.getBoundingClientRect().width
  }`)
  expect(bar).toBeLessThan(0.06)
  await page.letRun(true)
  await page.go(`${served.url}statistics/transactions`)
  expect(await labelsOn(page, 1_200)).toEqual([day, '0', '1'])
  await page.close()
  await destroy()
})

test('plots in a browser: a low axis of a count has more than zero, and no half of a thing', async () => {
  await using served = servedBehind('/', serviceOn(await loadedStore(), { explorer: true }))
  const page = await browser.open({ width: 1_400 })
  await page.go(`${served.url}account/busyhub`)
  await page.until("document.querySelector('.activity figure.drawn') !== null")
  for (const [most, width] of [
    [1, 1_300],
    [3, 1_200],
    [4, 1_100],
    [7, 1_000],
  ] as const) {
    await page.run(`document.querySelector('.activity figure').dataset.values = '0 ${most} 0'`)
    const labels = (await labelsOn(page, width)).filter(text => !text.includes('-')).map(Number)
    expect([most, labels.length > 1, labels.every(Number.isInteger)]).toEqual([most, true, true])
  }
  await page.close()
})
