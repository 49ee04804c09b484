import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { pages } from '#explorer/pages.ts'
import type { Store } from '#store/port.ts'
import { serveGenerated } from '../generator/serve.ts'
import { small } from '../generator/small.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { loadFrom, temporarySqlite } from '../support/stores/loading.ts'
import { brokenOf, type Crawled, crawl } from './crawl.ts'
import { foreignIn } from './parts.ts'
import { type Explorer, explorerOn } from './served.ts'
import { strayFigures } from './stray-figures.ts'

// Loads a chain of some thousand blocks; a test that hangs still ends.
setDefaultTimeout(600_000)

type Opening = () => Promise<{ readonly store: Store; destroy(): Promise<void> }>

/** Addresses of each kind that are opened. */
const MOST = 4

/** Another chain than the recorded one: whoever follows links from the first page comes to every kind of page. */
const suite = (name: string, open: Opening): void =>
  describe(`pages of a generated chain on ${name}`, () => {
    let opened: Awaited<ReturnType<Opening>>
    let explorer: Explorer
    let crawled: readonly Crawled[] = []
    beforeAll(async () => {
      opened = await open()
      const node = serveGenerated(small('mixed'))
      await loadFrom(node.url, opened.store)
      await node.stop()
      explorer = await explorerOn({}, opened.store)
      crawled = await crawl({ explorer, from: ['/', '/zh/'], most: MOST })
    })
    afterAll(() => opened.destroy())

    test('every link leads to a page, and there is one of each kind in both languages', () => {
      expect(brokenOf(crawled)).toEqual([])
      const shown = crawled.filter(({ html }) => html !== '').map(({ path }) => path.replace(/\?.*/s, ''))
      for (const { path } of pages.filter(each => !UNLINKED.has(each.path))) {
        const kind = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
        expect([path, shown.some(each => kind.test(each))]).toEqual([path, true])
        expect([path, shown.some(each => each.startsWith('/zh/') && kind.test(each.slice(3)))]).toEqual([
          path,
          true,
        ])
      }
    })

    test('every figure of a page is one that the API answers at that height, and nothing is foreign', async () => {
      let compared = 0
      for (const page of crawled.filter(each => each.html !== '' && PAGE.test(each.path))) {
        expect([page.path, foreignIn(page)]).toEqual([page.path, []])
        expect([page.path, await strayFigures(explorer, page.path, page)]).toEqual([page.path, []])
        compared += page.values.length
      }
      expect(compared).toBeGreaterThan(1_000)
    })
  })

/** Pages that a form or a program leads to. */
const UNLINKED: ReadonlySet<string> = new Set(['/search', '/suggest', '/sitemap.xml'])
/** Pages of the explorer: the reference and the status page have tests of their own. */
const PAGE = /^\/(?!docs|status|api|openapi)/

suite('SQLite', temporarySqlite)
describe.skipIf(elasticsearchUrl() === undefined)('Elasticsearch', () =>
  suite('Elasticsearch', async () => openTestElastic({ leaseMs: 15_000 })),
)
