import { expect, test } from 'bun:test'
import { toIso } from '#chain/time.ts'
import { shareBrowser } from '../support/browser/browser.ts'
import { servedBehind } from '../support/browser/served.ts'
import { serviceOn } from '../support/processes/service.ts'
import { seeded } from '../support/seeded.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { votedChain } from '../support/stores/voted-chain.ts'

const browser = await shareBrowser()

test('plots in a browser: a chain that is a day old has one narrow bar and no future day', async () => {
  const { store, destroy } = await temporarySqlite()
  const blocks = votedChain(seeded(11), { quiet: 1, busy: 1 }).slice(0, 1)
  await commitRuns(store, [blocks], { lib: 0 })
  const day = toIso(blocks[0]?.block.time ?? 0n).slice(5, 10)
  await using served = servedBehind('/', serviceOn(store, { explorer: true }))
  const page = await browser.open()
  await page.letRun(false)
  await page.go(`${served.url}statistics/transactions`)
  const bar = await page.run<number>(`{
    const svg = document.querySelector('figure.plot svg.drawing')
    svg.querySelector('path:not(.grid)').getBoundingClientRect().width / svg.getBoundingClientRect().width
  }`)
  expect(bar).toBeLessThan(0.06)
  const labels = `[...document.querySelectorAll('figure.plot :is(.values span, .dates text)')].map(each => each.textContent)`
  expect(await page.run<readonly string[]>(labels)).toEqual(['1', '0', day])
  await page.close()
  await destroy()
})

/** A plot with the pointer on one of its values. */
const pointedAt = (at: number, of: number): string => `{
  const figure = document.querySelector('.activity figure.plot')
  const { left, width, top } = figure.querySelector('.drawing').getBoundingClientRect()
  const clientX = left + (${at} + 0.5) * width / ${of}
  figure.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX, clientY: top + 9 }))
}`

test('plots in a browser: the value under the pointer is shown, the layout stays, and the plot is restored when the pointer leaves', async () => {
  await using served = servedBehind('/', serviceOn(await loadedStore(), { explorer: true }))
  const page = await browser.open({ width: 1_400 })
  await page.go(`${served.url}account/busyhub`)
  const told = "document.querySelector('.activity .told').textContent"
  const size = `JSON.stringify(document.querySelector('.activity figure.plot').getBoundingClientRect())`
  const points = await page.run<readonly string[]>(
    "document.querySelector('.activity figure.plot').dataset.points.split('|')",
  )
  const [before, sizeBefore] = [await page.run<string>(told), await page.run<string>(size)]
  expect([points.length, before]).toEqual([30, 'Highest: 18,261 on 2026-11-21'])
  for (const at of [0, 7, points.length - 1]) {
    await page.run(pointedAt(at, points.length))
    expect(await page.run<string>(told)).toBe(points[at] ?? '')
  }
  expect(await page.run<string>(size)).toBe(sizeBefore)
  await page.run(
    "document.querySelector('.activity figure.plot').dispatchEvent(new PointerEvent('pointerout', { bubbles: true }))",
  )
  expect(await page.run<readonly unknown[]>(`[${told}, document.querySelector('.pointed')]`)).toEqual([before, null])
  await page.close()
})
