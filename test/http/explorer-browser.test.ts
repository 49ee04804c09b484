import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Profile } from '#actions/define.ts'
import { pages } from '#explorer/pages.ts'
import { createNode } from '#node/archive-node.ts'
import type { Node } from '#node/port.ts'
import { type Replay, serveReplay } from '#test/replay/serve.ts'
import { patientClock } from '#test/support/clocks/patient-clock.ts'
import { auditPage, WORDS_AND_COLOURS } from '../support/browser/axe.ts'
import { shareBrowser } from '../support/browser/browser.ts'
import type { Page } from '../support/browser/page.ts'
import { type Served, servedBehind } from '../support/browser/served.ts'
import { recording } from '../support/nodes/recording.ts'
import { type Service, serviceOn } from '../support/processes/service.ts'
import { loadedStore } from '../support/stores/loaded.ts'

// A test that hangs still ends.
setDefaultTimeout(600_000)

const RUN = '<img src=x onerror=alert(1)><script>alert(2)</script>"\'><svg onload=alert(3)>'
/** A profile of a producer with hostile values. */
const PROFILE: Profile = {
  alias: `节点${RUN}`,
  alias_en: `Node${RUN}`,
  description: RUN.repeat(40),
  description_en: RUN.repeat(40),
  logo: 'https://elsewhere.example/logo.png',
  statement: RUN,
  statement_en: RUN,
  type: '',
  type_en: '',
  social_media: { [RUN]: 'javascript:alert(4)', 网站: 'https://elsewhere.example/' },
}

const browser = await shareBrowser()
let replay: Replay
let node: Node
let service: Service
let served: Served
beforeAll(async () => {
  replay = serveReplay({ recording: await recording() })
  node = createNode({ urls: [replay.url], clock: patientClock })
  await node.watch(async () => undefined)
  service = serviceOn(await loadedStore(), {
    explorer: true,
    node,
    prices: { get: () => ({ usd: '0.0123', cny: '0.0881', rank: 321, time: '2026-11-21T00:00:00.000Z' }) },
    profiles: { get: () => PROFILE },
  })
  served = servedBehind('/', service)
})
afterAll(async () => {
  await served[Symbol.asyncDispose]()
  node.close()
  await replay.stop()
})

/** At least one page of each kind. */
const ADDRESSES = [
  '',
  'search?text=prod',
  'search?text=no%20such%20thing',
  'blocks',
  'blocks?page=3',
  'block/4824',
  'block/0',
  'tokens',
  'token/iost',
  'token/iost?holders=1',
  'nfts',
  'nft/nft_cats',
  'nft/nft_cats?owners=1',
  'nft/nft_cats/0',
  'producers',
  'producers?by=voters',
  'producer/producer000',
  'wealth',
  'statistics',
  'statistics/transactions',
  'transactions',
  'transactions?page=500',
  'tx/EtsagS1FGY4f1kEZGu8zoryj8pXKSBazcHujbC4c958e',
  // A transaction that failed after several actions.
  'tx/9PuqyNavM7r8jMAwpzuaEp9syibZRaURXwgHbckve53p',
  'account/busyhub',
  'account/__proto__',
  'account/busyhub/iost',
  'contracts',
  'contract/token.iost/storage?key=TIiost',
  'contract/token.iost',
  'contract/Contract5aHQiyi3zX8bwRWao4fMvxFi5UabjPPaqhUJ8eyUb9RW',
  'no/such/page',
]

/** Pages for programs. */
const PIECES = ['/suggest', '/sitemap.xml']

test('explorer in a browser: every page of the explorer is in the list', () => {
  const paths = ADDRESSES.map(address => `/${address.replace(/\?.*/, '')}`)
  const looked = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
  const missed = pages.filter(({ path }) => !paths.some(each => looked(path).test(each)))
  expect(missed.map(({ path }) => path)).toEqual(PIECES)
})

/** The layout shift of a page, and whether it was painted before all of it had arrived. */
const SHIFT = `new Promise(done => {
  let sum = 0
  new PerformanceObserver(list => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) sum += value
  }).observe({ type: 'layout-shift', buffered: true })
  const [{ domInteractive }] = performance.getEntriesByType('navigation')
  const inParts = performance.getEntriesByType('paint').some(({ startTime }) => startTime < domInteractive)
  requestAnimationFrame(() => setTimeout(() => done({ sum, inParts }), 0))
})`
/** Loads of a page before a shift counts. A page that arrives in parts, as on a machine that pauses, may shift. */
const LOADS = 10

/** Opens a URL. Returns whether the content stayed in place. */
async function staysPut(page: Page, url: string): Promise<boolean> {
  for (let load = 1; ; load += 1) {
    await page.go(url)
    const { sum, inParts } = await page.run<{ sum: number; inParts: boolean }>(SHIFT)
    if (sum < 0.05) return true
    if (!inParts || load === LOADS) return false
  }
}

const wideOf = (page: Page): Promise<number> => page.run('document.documentElement.scrollWidth')

/** Console messages without those for the expected answers 404 and 400. */
const quietIn = (page: Page): readonly string[] =>
  page.said.filter(line => !/404.*no\/such\/page|400.*\/search/.test(line))

/** Requests to other hosts. Chromium's own icons, such as a calendar, cause no request. */
const elsewhereOf = (page: Page): readonly string[] =>
  page.asked.filter(asked => !asked.startsWith(served.url) && !asked.startsWith('data:image/svg+xml;'))

/** Widths of a phone, a tablet and a desktop. */
const WIDTHS = [360, 768, 1_400] as const
/** Widths on both sides of those at which the layout changes, where there is least room. */
const BETWEEN = [480, 759, 761, 960, 1_151, 1_153] as const

/**
 * How a page is opened and checked: half of all pages on a phone in the light theme by every rule, the others
 * on a desktop in the dark theme. The other language swaps the two halves.
 */
const lookAt = (at: number, lang: 'en' | 'zh') =>
  at % 2 === (lang === 'en' ? 0 : 1)
    ? ({ width: 360, scheme: 'light', rules: {} } as const)
    : ({ width: 1_400, scheme: 'dark', rules: WORDS_AND_COLOURS } as const)

/** Names of page parts in Latin letters alone, without words that Chinese has adopted. */
const UNTRANSLATED = `[...document.querySelectorAll('h1 small, h2, th, dt, label span, button, nav a, .inner > summary, [aria-label], [placeholder], .badge')]
  .flatMap(each => [each.matches('[data-copy]') ? '' : each.textContent, each.ariaLabel ?? '', each.placeholder ?? ''])
  .filter(text => /[A-Za-z]/.test(text) && !/\\p{Script=Han}/u.test(text) && !/^(?:gas|RAM|UTC)$/i.test(text.trim()) && text !== ${JSON.stringify(RUN)})`

/** Opens all folded parts of a page. */
const UNFOLD = "document.querySelectorAll('main details').forEach(each => { each.open = true })"
/** Parts that are visible outside of their card. What is in a part that scrolls is cut off at its edge. */
const BEYOND = `[...document.querySelectorAll('main .card *')]
  .filter(each => each.checkVisibility() && !each.closest('svg, pre, .sr, .inner')
    && each.getBoundingClientRect().right > each.closest('.card').getBoundingClientRect().right + 0.5)
  .map(each => each.outerHTML.slice(0, 80))`

test.each(['en', 'zh'] as const)(
  'explorer in a browser: every page is correct at every width, light and dark, %s',
  async lang => {
    const page = await browser.open()
    const base = lang === 'en' ? served.url : `${served.url}zh/`
    for (const [at, address] of ADDRESSES.entries()) {
      const { width, scheme, rules } = lookAt(at, lang)
      await page.prefer(scheme)
      await page.resize(width)
      const url = `${base}${address}${address === '' && lang === 'en' ? '?lang=en' : ''}`
      expect([address, await staysPut(page, url)]).toEqual([address, true])
      expect([address, await auditPage(page, rules)]).toEqual([address, []])
      if (lang === 'zh') expect([address, await page.run(UNTRANSLATED)]).toEqual([address, []])
      for (const wide of [width, ...WIDTHS.filter(each => each !== width)]) {
        await page.resize(wide)
        expect([address, await wideOf(page)]).toEqual([address, wide])
      }
      await page.run(UNFOLD)
      for (const wide of [360, 761, 1_400]) {
        await page.resize(wide)
        expect([address, await wideOf(page), await page.run(BEYOND)]).toEqual([address, wide, []])
      }
    }
    expect(quietIn(page)).toEqual([])
    expect(elsewhereOf(page)).toEqual([])
    await page.close()
  },
)

test('explorer in a browser: the code of a contract is readable in both themes, and copied without line numbers', async () => {
  const page = await browser.open({ width: 360 })
  const address = 'contract/Contract8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp'
  const code = await (await service.ask(`/${address}?raw=1`)).text()
  for (const scheme of ['light', 'dark'] as const) {
    await page.prefer(scheme)
    await page.go(`${served.url}${address}`)
    await page.run("document.querySelector('.lines').closest('details').open = true")
    expect([scheme, await auditPage(page)]).toEqual([scheme, []])
    expect([scheme, await wideOf(page)]).toEqual([scheme, 360])
    const colours =
      "new Set([...document.querySelectorAll('.lines, .lines span')].map(each => getComputedStyle(each).color)).size"
    expect([scheme, (await page.run<number>(colours)) > 2]).toEqual([scheme, true])
  }
  const copied = "getSelection().selectAllChildren(document.querySelector('.lines')), getSelection().toString()"
  expect((await page.run<string>(copied)).trimEnd()).toBe(code.trimEnd())
  // All line numbers are left of the code, also where a line is wrapped.
  const numbers = "[...document.querySelectorAll('.lines i')].map(each => each.getBoundingClientRect().left)"
  expect(new Set(await page.run<readonly number[]>(numbers)).size).toBe(1)
  expect(await page.run<number>("document.querySelectorAll('.lines i').length")).toBe(code.trimEnd().split('\n').length)
  await page.close()
})

test('explorer in a browser: a QR code is dark on light in both themes, and fits on a phone', async () => {
  const page = await browser.open({ width: 360 })
  for (const scheme of ['light', 'dark'] as const) {
    await page.prefer(scheme)
    await page.go(`${served.url}account/__proto__`)
    await page.run("document.querySelector('.qr').open = true")
    expect([scheme, await auditPage(page)]).toEqual([scheme, []])
    expect([scheme, await wideOf(page)]).toEqual([scheme, 360])
    const colours =
      "[getComputedStyle(document.querySelector('.qr svg')).backgroundColor, getComputedStyle(document.querySelector('.qr path')).stroke]"
    expect([scheme, await page.run(colours)]).toEqual([scheme, ['rgb(255, 255, 255)', 'rgb(0, 0, 0)']])
  }
  await page.close()
})

/** Buttons without effect, invisible plots, and plots and texts in the colour of their background. */
const UNSCRIPTED = `({
  wide: document.documentElement.scrollWidth,
  buttons: [...document.querySelectorAll('button[type=button]')].filter(each => each.checkVisibility({ visibilityProperty: true })).length,
  plots: [...document.querySelectorAll('figure.plot')].filter(each => each.checkVisibility() && each.querySelector('svg').getBoundingClientRect().height < 50).length,
  same: [...document.querySelectorAll('.card')].flatMap(card => [card, ...card.querySelectorAll('a, td, dt, figure.plot')]
    .filter(each => getComputedStyle(each).color === getComputedStyle(card).backgroundColor)).length,
})`

test('explorer in a browser: every page is complete without scripts at every width, light and dark', async () => {
  const page = await browser.open()
  await page.letRun(false)
  for (const [at, address] of ADDRESSES.entries()) {
    await page.prefer(lookAt(at, 'en').scheme)
    await page.go(`${served.url}${address}${address === '' ? '?lang=en' : ''}`)
    for (const width of [...WIDTHS, ...BETWEEN]) {
      await page.resize(width)
      expect([address, await page.run(UNSCRIPTED)]).toEqual([address, { wide: width, buttons: 0, plots: 0, same: 0 }])
    }
  }
  expect(quietIn(page)).toEqual([])
  await page.close()
})

test('explorer in a browser: a page printed from the dark theme is dark on white, without controls', async () => {
  const page = await browser.open({ width: 794 })
  await page.prefer('dark', 'print')
  for (const address of [
    'account/busyhub',
    'tx/EtsagS1FGY4f1kEZGu8zoryj8pXKSBazcHujbC4c958e',
    'statistics/transactions',
  ]) {
    await page.go(`${served.url}${address}`)
    expect([address, await auditPage(page, WORDS_AND_COLOURS)]).toEqual([address, []])
    const grounds = `[...new Set([...document.querySelectorAll('body, .card')].map(each => getComputedStyle(each).backgroundColor))]`
    expect([address, await page.run(grounds)]).toEqual([address, ['rgb(255, 255, 255)']])
    const folded = `[...document.querySelectorAll('main details > :not(summary)')].filter(each => !each.checkVisibility({ contentVisibilityAuto: true })).length`
    expect([address, await page.run(folded)]).toEqual([address, 0])
    const pressed = `[...document.querySelectorAll('button, input, .steps a')].filter(each => each.checkVisibility()).map(each => each.outerHTML)`
    expect([address, await page.run(pressed)]).toEqual([address, []])
  }
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
  await page.until(`${input}.getAttribute('aria-expanded') === 'true'`)
  expect(await auditPage(page)).toEqual([])
  await page.press('Escape')
  expect(await page.run<string>(`${input}.getAttribute('aria-expanded')`)).toBe('false')
  await page.type('u')
  await page.until(`${input}.getAttribute('aria-expanded') === 'true'`)
  await page.press('ArrowDown')
  const chosen = `document.getElementById(${input}.getAttribute('aria-activedescendant'))`
  expect(await page.run<string>(`${chosen}.textContent`)).toStartWith('busyhub Account · ')
  expect(await page.run<string>(`${chosen}.getAttribute('aria-selected')`)).toBe('true')
  await page.press('Enter')
  await page.until("location.pathname === '/account/busyhub' && document.readyState === 'complete'")
  expect(quietIn(page)).toEqual([])
  await page.close()
})

test('explorer in a browser: hostile texts run no script, lead to no other site and cause no request', async () => {
  const page = await browser.open()
  const text = encodeURIComponent(RUN)
  const found = `[...document.querySelectorAll('main :is(script, img, [onerror], [onload], [style], a[href^="javascript:"])')].length`
  for (const address of ['producers', 'producer/producer000', `search?text=${text}`, `statistics/${text}`]) {
    await page.go(`${served.url}${address}`)
    expect([address, await page.run<number>(found)]).toEqual([address, 0])
  }
  await page.go(`${served.url}producer/producer000`)
  const outside = await page.run<readonly string[]>(
    `[...document.querySelectorAll('main a[href^=http]')].filter(({ origin }) => origin !== location.origin).map(({ href, rel }) => [href, rel].join(' '))`,
  )
  expect(outside).toContain('https://elsewhere.example/ nofollow noopener noreferrer ugc')
  expect(await page.run<string>('document.body.innerText')).toContain(RUN)
  await page.press('/')
  await page.type(RUN)
  await page.run('new Promise(done => setTimeout(done, 300))')
  expect(page.said.filter(line => !/404.*statistics/.test(line))).toEqual([])
  expect(elsewhereOf(page)).toEqual([])
  await page.close()
})

test('explorer in a browser: the theme follows the system until one is chosen, and the choice persists', async () => {
  const page = await browser.open()
  await page.prefer('dark')
  await page.go(`${served.url}blocks`)
  const ground = 'getComputedStyle(document.body).backgroundColor'
  const press = "document.querySelector('button.theme').click()"
  const dark = await page.run<string>(ground)
  await page.run(press)
  const light = await page.run<string>(ground)
  expect(light).not.toBe(dark)
  await page.go(`${served.url}zh/blocks`)
  expect(await page.run<string>(ground)).toBe(light)
  expect(await page.run<string>("document.querySelector('button.theme').ariaLabel")).toBe('主题：浅色')
  await page.prefer('light')
  await page.run(press)
  expect(await page.run<string>(ground)).toBe(dark)
  await page.run(press)
  expect(await page.run<string>(ground)).toBe(light)
  expect(await auditPage(page)).toEqual([])
  await page.close()
})

test('explorer in a browser: times are shown in UTC or in the local time zone, and the choice persists', async () => {
  const page = await browser.open()
  await page.go(`${served.url}block/4824`)
  const time = "document.querySelector('time.at').textContent"
  const utc = await page.run<string>(time)
  expect(utc).toEndWith(' UTC')
  await page.run("document.querySelector('button.zone').click()")
  const local = await page.run<string>(time)
  expect(local).not.toEndWith(' UTC')
  await page.go(`${served.url}block/4824`)
  expect(await page.run<string>(time)).toBe(local)
  await page.run("document.querySelector('button.zone').click()")
  expect(await page.run<string>(time)).toBe(utc)
  await page.close()
})
