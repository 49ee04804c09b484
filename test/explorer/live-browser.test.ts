import { expect, test } from 'bun:test'
import { until } from '#test/support/wait.ts'
import { systemClock } from '#time/clock.ts'
import { shareBrowser } from '../support/browser/browser.ts'
import type { Page } from '../support/browser/page.ts'
import { servedBehind } from '../support/browser/served.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { type Service, serviceOn } from '../support/processes/service.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { temporarySqlite } from '../support/stores/loading.ts'

const browser = await shareBrowser()

/** What pages asked of a service: heights for which a page was fetched, and streams. */
type Asked = { readonly told: string[]; open: number; ever: number }

/** Counts what pages ask. With `isRefused` no stream opens. */
function watchPages(service: Service, isRefused: boolean) {
  const asked: Asked = { told: [], open: 0, ever: 0 }
  const handle = async (request: Request): Promise<Response> => {
    const height = request.headers.get('x-live-height')
    if (height !== null) asked.told.push(height)
    if (!new URL(request.url).pathname.endsWith('/live')) return service.app.handle(request)
    if (isRefused) return new Response('busy', { status: 503 })
    asked.ever += 1
    asked.open += 1
    request.signal.addEventListener('abort', () => {
      asked.open -= 1
    })
    return service.app.handle(request)
  }
  return { asked, watched: { ...service, app: { handle } as Service['app'] } }
}

type Growing = {
  readonly isRefused?: boolean
  readonly more: readonly number[]
  readonly paths?: readonly string[]
  readonly base?: string
  /** Time added to that of the last block. Absent: none, so every block is recent. */
  readonly later?: () => number
}
type Grown = { readonly asked: Asked; readonly service: Service; readonly pages: readonly Page[] }

/** Opens a page on a chain at block 60. Then each height of `more` is published and awaited. */
async function withGrowingChain(
  { isRefused = false, more, paths = ['blocks'], base = '/', later = () => 0 }: Growing,
  look: (page: Page, height: number, grown: Grown, at: number) => Promise<void>,
  end: (grown: Grown) => Promise<void> = async () => undefined,
): Promise<void> {
  const { store, destroy } = await temporarySqlite()
  const blocks = await recordedBlocks()
  const ends = [60, ...more]
  const last = Number((blocks[ends.at(-1) ?? 0]?.block.time ?? 0n) / 1_000_000n)
  const service = serviceOn(store, { explorer: true, clock: { ...systemClock, now: () => last + later() } })
  const { asked, watched } = watchPages(service, isRefused)
  await using chain = servedBehind(base, watched)
  const pages = await browser.openWindows(paths.length)
  const grown = { asked, service, pages }
  const runs = ends.map((height, run) => blocks.slice(run === 0 ? 0 : (ends[run - 1] ?? 0) + 1, height + 1))
  await commitRuns(store, runs, {
    lib: Math.max(80, ...ends),
    onCommitted: async height => {
      await Promise.all(
        pages.map(async (page, at) => {
          if (height === 60) {
            await page.go(`${chain.url}${paths[at]}`)
            // Only the last window of several is visible to the browser.
            if (paths.length > 1) await page.run(show(true))
          }
          await look(page, height, grown, at)
        }),
      )
    },
  })
  await end(grown)
  for (const page of pages) expect(page.said.filter(line => !/503.*\/live/.test(line))).toEqual([])
  await pages[0]?.close()
  await destroy()
}

const FIRST = "document.querySelector('table[data-live] tbody td').textContent"
const ROWS = "document.querySelectorAll('table[data-live] tbody tr').length"
const AS_OF = "/block (\\d+)/.exec(document.querySelector('footer').textContent)[1]"
const STATE = "document.querySelector('.live').dataset.state"
const show = (isSeen: boolean): string => `{
  Object.defineProperty(document, 'hidden', { value: ${!isSeen}, configurable: true })
  document.dispatchEvent(new Event('visibilitychange'))
}`
const isAt = (height: number): string => `${STATE} === 'on' && ${FIRST} === '${height}'`

test('live: a visible page gets rows of new blocks by the stream, the table keeps its size, and rows stay while a visitor reads them', async () => {
  let rows = 0
  await withGrowingChain({ more: [61, 62, 71] }, async (page, height, { asked, service }) => {
    if (height === 60) {
      await page.until(isAt(60))
      rows = await page.run<number>(ROWS)
      return
    }
    if (height === 62) {
      await page.until(`${STATE} === 'held'`)
      expect(await page.run<readonly string[]>(`[${FIRST}, ${AS_OF}]`)).toEqual(['61', '61'])
      await page.run('document.activeElement.blur()')
      await page.until(`${AS_OF} === '62' && ${isAt(62)}`)
      return
    }
    if (height === 71) {
      // A hidden page closes its stream, and fetches the missed rows when it is shown again.
      await page.run(show(false))
      await until(() => service.lines.some(({ fields }) => fields['route'] === 'live'))
      await page.run(show(true))
    }
    await page.until(`${FIRST} === '${height}'`)
    expect(await page.run<number>(ROWS)).toBe(rows)
    expect(await page.run<number>("document.querySelectorAll('tr.fresh').length")).toBe(height === 61 ? 1 : 9)
    expect(asked.told).toContain(String(height))
    await page.run("document.querySelector('table[data-live] a').focus()")
  })
})

// A browser opens six connections to a host over HTTP/1.1. A window that held one would leave none for the seventh.
test('live: nine visible windows of one browser load and follow the height with one stream, also below a base path', async () => {
  await withGrowingChain(
    { more: [61, 70], paths: Array(9).fill('blocks'), base: '/behind/a/proxy/' },
    async (page, height, { asked }) => {
      await page.until(isAt(height))
      expect(asked).toMatchObject({ open: 1, ever: 1 })
    },
    async ({ asked, pages }) => {
      const [first, ...others] = pages
      // The stream lasts as long as a window is visible.
      for (const page of others) await page.run(show(false))
      expect(await first?.run<string>(STATE)).toBe('on')
      expect(asked).toMatchObject({ open: 1, ever: 1 })
      await first?.run(show(false))
      await until(() => asked.open === 0)
      await others[2]?.run(show(true))
      await others[2]?.until(isAt(70))
      await until(() => asked.open === 1)
      expect(asked.ever).toBe(2)
    },
  )
})

/** The text of a page without its ages, and the text that the service now returns for its URL. */
const SAID = `(async () => {
  const answer = await fetch(location.href, { headers: { Accept: 'text/html' } })
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html')
  return [document, fresh].map(root => ['main', 'footer'].map(part => {
    const copy = root.querySelector(part).cloneNode(true)
    for (const each of copy.querySelectorAll('.ago, .trouble')) each.remove()
    for (const each of copy.querySelectorAll('figure.plot')) each.append(each.dataset.points)
    return copy.textContent
  }).join(' '))
})()`

test('live: all parts of an open page have the same height', async () => {
  const paths = ['?lang=en', 'account/admin', 'token/iost', 'contract/token.iost']
  const before = new Map<number, string>()
  await withGrowingChain({ more: [61, 400], paths }, async (page, height, _grown, at) => {
    await page.until(`${AS_OF} === '${height}'`)
    const [open = '', fresh = ''] = await page.run<readonly string[]>(SAID)
    expect([paths[at], open]).toEqual([paths[at], fresh])
    if (height === 400) expect([paths[at], open === before.get(at)]).toEqual([paths[at], false])
    before.set(at, open)
    if (height === 61) await page.run("for (const each of document.querySelectorAll('details')) each.open = !each.open")
    else if (height === 60) await page.until(`${STATE} === 'on'`)
  })
})

test('live: the page says live while its data is current, otherwise it names the problem', async () => {
  let ms = 3_600_000
  await withGrowingChain({ more: [61], later: () => ms }, async (page, height) => {
    if (height === 60) {
      await page.until(`${STATE} === 'stale'`)
      const said = "[document.querySelector('.stale').title, document.querySelector('.trouble').textContent]"
      expect(await page.run<readonly string[]>(said)).toEqual(Array(2).fill('The last loaded block is old.'))
      ms = 0
      return
    }
    await page.until(`${STATE} === 'on' && document.querySelector('.trouble').textContent === ''`)
  })
})

test('live: if the stream is refused, rows of new blocks are fetched at intervals', async () => {
  // The form of a pager leads to the first page by its number.
  await withGrowingChain({ isRefused: true, more: [61], paths: ['blocks?page=1'] }, async (page, height, { asked }) => {
    await page.until(`${STATE} === 'late' && ${FIRST} === '${height}'`)
    expect(asked.told.filter(each => each !== '60')).toEqual([])
  })
})
