import { afterAll, expect, test } from 'bun:test'
import { until } from '#test/support/wait.ts'
import { systemClock } from '#time/clock.ts'
import { auditPage, WORDS_AND_COLOURS } from '../support/browser/axe.ts'
import { shareBrowser } from '../support/browser/browser.ts'
import type { Page } from '../support/browser/page.ts'
import { servedBehind } from '../support/browser/served.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { type Service, serviceOn } from '../support/processes/service.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { explorerOn } from './served.ts'

const browser = await shareBrowser()
const explorer = await explorerOn()
const served = servedBehind('/', explorer)
afterAll(() => served[Symbol.asyncDispose]())

const CONTRACT = 'contract/Contract8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp'

test.each([
  [
    ...[CONTRACT, '.lines'],
    "new Set([...document.querySelectorAll('.lines, .lines span')].map(each => getComputedStyle(each).color)).size > 2",
  ],
  [
    ...['account/__proto__', '.qr svg'],
    "getComputedStyle(document.querySelector('.qr svg')).backgroundColor === 'rgb(255, 255, 255)' && getComputedStyle(document.querySelector('.qr path')).stroke === 'rgb(0, 0, 0)'",
  ],
] as const)('explorer in a browser: %s, %s is readable in both themes, and fits on a phone', async (...given) => {
  const [address, part, isReadable] = given
  const page = await browser.open({ width: 360 })
  for (const scheme of ['light', 'dark'] as const) {
    await page.prefer(scheme)
    await page.go(`${served.url}${address}`)
    await page.run(`document.querySelector('${part}').closest('details').open = true`)
    expect([scheme, await auditPage(page, scheme === 'light' ? {} : WORDS_AND_COLOURS)]).toEqual([scheme, []])
    const shown = await page.run(`[document.documentElement.scrollWidth, ${isReadable}]`)
    expect([scheme, shown]).toEqual([scheme, [360, true]])
  }
  await page.close()
})

test('explorer in a browser: the code of a contract is copied without line numbers, which are left of it', async () => {
  const page = await browser.open({ width: 360 })
  const code = await (await explorer.ask(`/${CONTRACT}?raw=1`)).text()
  await page.go(`${served.url}${CONTRACT}`)
  await page.run("document.querySelector('.lines').closest('details').open = true")
  const copied = "getSelection().selectAllChildren(document.querySelector('.lines')), getSelection().toString()"
  expect((await page.run<string>(copied)).trimEnd()).toBe(code.trimEnd())
  const lefts = "[...document.querySelectorAll('.lines i')].map(each => each.getBoundingClientRect().left)"
  const numbers = await page.run<readonly number[]>(lefts)
  expect([new Set(numbers).size, numbers.length]).toEqual([1, code.trimEnd().split('\n').length])
  await page.close()
})

test('explorer in a browser: search, page and content are reachable by keyboard alone', async () => {
  const page = await browser.open({ width: 360 })
  await page.go(`${served.url}blocks`)
  await page.press('Tab')
  expect(await page.run<string>('document.activeElement.textContent')).toBe('Skip to the content')
  await page.press('Enter')
  await page.until("location.hash === '#main'")
  await page.press('/')
  await page.type('busyh')
  const input = "document.querySelector('.search input')"
  await page.until(`${input}.ariaExpanded === 'true'`)
  expect(await auditPage(page)).toEqual([])
  await page.press('Escape')
  expect(await page.run<string>(`${input}.ariaExpanded`)).toBe('false')
  await page.type('u')
  await page.until(`${input}.ariaExpanded === 'true'`)
  await page.press('ArrowDown')
  const chosen = `document.getElementById(${input}.getAttribute('aria-activedescendant'))`
  expect(await page.run<string>(`${chosen}.ariaSelected + ' ' + ${chosen}.textContent`)).toStartWith(
    'true busyhub Account · ',
  )
  await page.press('Enter')
  await page.until("location.pathname === '/account/busyhub' && document.readyState === 'complete'")
  expect(page.said).toEqual([])
  await page.close()
})

test('explorer in a browser: the theme follows the system until one is chosen, and the choice persists', async () => {
  const page = await browser.open()
  await page.prefer('dark')
  await page.go(`${served.url}blocks`)
  const readGround = () => page.run<string>('getComputedStyle(document.body).backgroundColor')
  const press = () => page.run("document.querySelector('button.theme').click()")
  const dark = await readGround()
  await press()
  const light = await readGround()
  expect(light).not.toBe(dark)
  await page.go(`${served.url}zh/blocks`)
  expect(await readGround()).toBe(light)
  expect(await page.run<string>("document.querySelector('button.theme').ariaLabel")).toBe('主题：浅色')
  await page.prefer('light')
  for (const ground of [dark, light]) {
    await press()
    expect(await readGround()).toBe(ground)
  }
  expect(await auditPage(page)).toEqual([])
  await page.close()
})

test('explorer in a browser: times are shown in UTC or in the local time zone, and the choice persists', async () => {
  const page = await browser.open()
  await page.go(`${served.url}block/4824`)
  const readTime = () => page.run<string>("document.querySelector('time.at').textContent")
  const press = () => page.run("document.querySelector('button.zone').click()")
  const utc = await readTime()
  expect(utc).toEndWith(' UTC')
  await press()
  const local = await readTime()
  expect(local).not.toEndWith(' UTC')
  await page.go(`${served.url}block/4824`)
  expect(await readTime()).toBe(local)
  await press()
  expect(await readTime()).toBe(utc)
  await page.close()
})

/** Notes heights for which pages are fetched, and counts streams. With `isRefused` no stream opens. */
function watchPages(service: Service, isRefused: boolean) {
  const asked = { told: [] as string[], open: 0, ever: 0 }
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

type Grown = {
  readonly asked: ReturnType<typeof watchPages>['asked']
  readonly service: Service
  readonly pages: readonly Page[]
}

/**
 * Opens a page on a chain at block 60. Then each height of `more` is published and awaited. `later` is the time since
 * the last block.
 */
async function withGrowingChain(
  { more = [61], isRefused = false, paths = ['blocks'], base = '/', later = () => 0 },
  look: (page: Page, height: number, grown: Grown, at: number) => Promise<void>,
  end?: (grown: Grown) => Promise<void>,
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
  const lookAt = async (page: Page, height: number, at: number): Promise<void> => {
    if (height === 60) {
      await page.go(`${chain.url}${paths[at]}`)
      // Only the last window of several is visible to the browser.
      if (paths.length > 1) await page.run(show(true))
    }
    await look(page, height, grown, at)
  }
  await commitRuns(store, runs, {
    lib: Math.max(80, ...ends),
    onCommitted: async height => {
      await Promise.all(pages.map((page, at) => lookAt(page, height, at)))
    },
  })
  await end?.(grown)
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
    const shown = await page.run(`[${ROWS}, document.querySelectorAll('tr.fresh').length]`)
    expect(shown).toEqual([rows, height === 61 ? 1 : 9])
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
    const trouble = "document.querySelector('.trouble').textContent"
    if (height > 60) return page.until(`${STATE} === 'on' && ${trouble} === ''`)
    await page.until(`${STATE} === 'stale'`)
    const said = await page.run<readonly string[]>(`[document.querySelector('.stale').title, ${trouble}]`)
    expect(said).toEqual(Array(2).fill('The last loaded block is old.'))
    ms = 0
  })
})

test('live: if the stream is refused, rows of new blocks are fetched at intervals', async () => {
  // The form of a pager leads to the first page by its number.
  await withGrowingChain({ isRefused: true, more: [61], paths: ['blocks?page=1'] }, async (page, height, { asked }) => {
    await page.until(`${STATE} === 'late' && ${FIRST} === '${height}'`)
    expect(asked.told.filter(each => each !== '60')).toEqual([])
  })
})
