import { beforeAll, expect, test } from 'bun:test'
import { pages } from '#explorer/pages.ts'
import type { Store } from '#store/port.ts'
import { brokenOf, type Crawled, crawl } from './crawl.ts'
import { expectCells, expectFile } from './expect-files.ts'
import { strayFigures } from './numbers.ts'
import { foreignIn } from './read-page.ts'
import { type Explorer, explorerOn } from './served.ts'

const MOST = 2

/** Pages that only a form or a program opens, and one that needs a node (`contract-storage.test.ts`). */
const UNLINKED: ReadonlySet<string> = new Set(['/search', '/suggest', '/sitemap.xml', '/contract/{id}/storage'])
/** Pages of the explorer. The reference and the status page have tests of their own. */
const PAGE = /^\/(?!docs|status|api|openapi)/

/** Pages and files on a chain other than the recorded one: links from the first page lead to every kind of page. */
export function explorerSuite(store: () => Store): void {
  let explorer: Explorer
  let crawled: Crawled = []
  beforeAll(async () => {
    explorer = await explorerOn({}, store())
    crawled = await crawl({ explorer, from: ['/', '/zh/'], most: MOST })
  })

  test('every link leads to a page, and each kind of page is reached in both languages', () => {
    expect(brokenOf(crawled)).toEqual([])
    const shown = crawled.filter(({ html }) => html !== '').map(({ path }) => path.replace(/\?.*/s, ''))
    for (const { path } of pages.filter(each => !UNLINKED.has(each.path))) {
      const kind = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
      expect([path, shown.some(each => kind.test(each))]).toEqual([path, true])
      expect([path, shown.some(each => each.startsWith('/zh/') && kind.test(each.slice(3)))]).toEqual([path, true])
    }
  })

  test('every figure of a page is an answer of the API at that height, and no markup is foreign', async () => {
    let compared = 0
    for (const page of crawled.filter(each => each.html !== '' && PAGE.test(each.path))) {
      expect([page.path, foreignIn(page)]).toEqual([page.path, []])
      expect([page.path, await strayFigures(explorer, page.path, page)]).toEqual([page.path, []])
      compared += page.values.length
    }
    expect(compared).toBeGreaterThan(1_000)
  })

  test('files have every row, and changes that add up', async () => {
    const wealth = await explorer.list('base/get-wealth-list', { size: '5' })
    for (const { account } of wealth) await expectFile(explorer, account)
    expect(wealth.length).toBe(5)
  })

  test('files of lists of state and of history match the rows of the API, cell by cell', async () => {
    for (const path of ['/wealth.csv', '/token/iost/holders.csv', '/blocks.csv', '/contracts.csv'])
      expect(await expectCells(explorer, path)).toBeGreaterThan(0)
  })
}
