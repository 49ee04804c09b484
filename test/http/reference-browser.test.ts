import { afterAll, expect, test } from 'bun:test'
import { formatActionName } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { toIso } from '#chain/time.ts'
import { LISTS } from '#explorer/links.ts'
import { auditPage, WORDS_AND_COLOURS } from '../support/browser/axe.ts'
import { shareBrowser } from '../support/browser/browser.ts'
import type { OpenOptions, Page } from '../support/browser/page.ts'
import { type Served, servedBehind } from '../support/browser/served.ts'
import { serviceOn } from '../support/processes/service.ts'
import { SOAK } from '../support/processes/soak.ts'
import { seeded } from '../support/seeded.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { votedChain } from '../support/stores/voted-chain.ts'

/** What only a browser shows of the reference, and of the plots in the explorer. */

const browser = await shareBrowser()
const service = serviceOn(await loadedStore())
const served = servedBehind('/', service)
const explored = servedBehind('/', serviceOn(await loadedStore(), { explorer: true }))
afterAll(async () => {
  for (const each of [served, explored]) await each[Symbol.asyncDispose]()
})

async function open(path: string, options: OpenOptions = {}, at: Served = served): Promise<Page> {
  const page = await browser.open(options)
  await page.go(`${at.url}${path}`)
  return page
}

/** Checks the page for errors and for requests to other hosts, and closes it. */
async function close(page: Page, base = served.url): Promise<void> {
  expect(page.said).toEqual([])
  expect(page.asked.filter(address => !address.startsWith(base) && !address.startsWith('data:'))).toEqual([])
  await page.close()
}

/** Fills in the key and sends the form of each action, or of one. Returns the first line and the text of each answer. */
async function sendForms(page: Page, action = ''): Promise<readonly (readonly [line: string, text: string])[]> {
  const forms = `${action} form.try`
  await page.run(`document.getElementById('key').value = ${JSON.stringify(service.key)}`)
  return page.run(`(async () => {
    const found = []
    const { sending } = document.getElementById('main').dataset
    for (const form of document.querySelectorAll('${forms}')) {
      const line = form.querySelector('.answer p')
      line.textContent = ''
      form.requestSubmit()
      while (line.textContent === '' || line.textContent === sending)
        await new Promise(done => requestAnimationFrame(done))
      found.push([line.textContent, form.querySelector('.answer pre').textContent])
    }
    return found
  })()`)
}

/** Names on the page that are broken within a line, except after a dot, a slash or a sign of a query. */
const BROKEN = `[...document.querySelectorAll('code')].flatMap(code => {
  const found = []
  const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    for (const word of node.data.matchAll(/[A-Za-z0-9_-]+/g)) {
      const range = document.createRange()
      range.setStart(node, word.index)
      range.setEnd(node, word.index + word[0].length)
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)))
      if (lines.size > 1) found.push(word[0])
    }
  }
  return found
})`

/** Controls too small for a finger: under 24 px, and not within a line of text. */
const SMALL = `[...document.querySelectorAll('a, button, summary, input, select')].flatMap(each => {
  const { height, width } = each.getBoundingClientRect()
  const isSeen = width > 0 && !each.matches('.skip') && !each.parentElement.matches('p, dd, td')
  return isSeen && (height < 24 || width < 24) ? [each.outerHTML.slice(0, 100)] : []
})`

const WIDTHS = [360, 768, 1400] as const
/** In Chinese the same page is narrow only, except in long runs. */
const PAGES = (['en', 'zh'] as const).flatMap(lang =>
  WIDTHS.filter(width => SOAK || lang === 'en' || width === 360).map((width, at) => [lang, width, at] as const),
)

/** The articles of all actions have the same parts, so that a few of them are audited, except in long runs. */
const KEEP_FEW = "[...document.querySelectorAll('article')].slice(4).forEach(each => each.remove())"

test.each(PAGES)(
  'reference in a browser: %s at a width of %d is correct, and accessible',
  async (lang, width, at) => {
    const scheme = (at % 2 === 0) === (lang === 'en') ? 'light' : 'dark'
    const page = await open(`docs/${lang}`, { width, scheme })
    const measure = (side: 'Width' | 'Height') => page.run<number>(`document.documentElement.scroll${side}`)
    expect(await measure('Width')).toBeLessThanOrEqual(width)
    // A phone shows about 700 px, so ten screens lead to every action.
    expect(await measure('Height')).toBeLessThan(7_000)
    await page.run("for (const each of document.querySelectorAll('details')) each.open = true")
    expect(await measure('Width')).toBeLessThanOrEqual(width)
    expect(await page.run<unknown>(BROKEN)).toEqual([])
    expect(await page.run<unknown>(SMALL)).toEqual([])
    if (!SOAK) await page.run(KEEP_FEW)
    if (SOAK || width === 360)
      expect(await auditPage(page, lang === 'en' && width === 360 ? {} : WORDS_AND_COLOURS)).toEqual([])
    await close(page)
  },
  600_000,
)

/** The header of a page: the targets of its links, and its style. */
const HEAD = `({
  links: [...document.querySelectorAll('.top :is(nav a, .brand)')].map(({ href }) => href),
  looks: ['body', '.brand', '.top', 'nav.bar a', 'h1', '.card'].map(each => {
    const { color, backgroundColor, fontFamily, fontSize } = getComputedStyle(document.querySelector(each))
    return [each, color, backgroundColor, fontFamily, fontSize]
  }),
})`

test.each(SOAK ? ['en', 'zh'] : ['zh'])(
  'the reference and the status have the header and the style of the explorer, %s',
  async lang => {
    const prefix = lang === 'en' ? '' : 'zh/'
    const page = await open(`${prefix}statistics`, { width: 360, scheme: 'light' }, explored)
    const ground = () => page.run<string>('getComputedStyle(document.body).backgroundColor')
    const light = await ground()
    // The chosen dark theme applies to every page.
    for (const _ of ['light', 'dark']) await page.run("document.querySelector('button.theme').click()")
    expect(await ground()).not.toBe(light)
    const heads: { readonly links: readonly string[]; readonly looks: readonly unknown[] }[] = []
    for (const path of [`${prefix}wealth`, `docs/${lang}`, `status?lang=${lang}`]) {
      await page.go(`${explored.url}${path}`)
      // The link of the current page has another colour in the header.
      await page.run("for (const each of document.querySelectorAll('[aria-current]')) each.ariaCurrent = null")
      heads.push(await page.run(HEAD))
    }
    const [first] = heads
    // The name of the service, the lists and the reference. The status is for operators: proxies need not publish it.
    expect(first?.links.length).toBe(LISTS.length + 2)
    expect(heads).toEqual(Array(3).fill(first))
    expect(await ground()).not.toBe(light)
    for (const link of first?.links ?? [])
      expect([link, (await fetch(link, { headers: { accept: 'text/html' } })).status]).toEqual([link, 200])
    await close(page, explored.url)
  },
  600_000,
)

test('reference in a browser: the form of every action is answered, with every row and digit', async () => {
  const page = await open('docs/en')
  const answers = await sendForms(page)
  expect(answers.length).toBe(actions.length)
  for (const [line, text] of answers) {
    expect(line).toStartWith('HTTP 200 · X-Block-Height: ')
    expect(text).toStartWith('{\n  "code": 0,\n  "message": "OK",\n  "data": {')
  }
  expect(await page.run<unknown>("[...document.querySelectorAll('pre.json')].length")).toBe(actions.length)
  const choose = (id: string, value: string) => page.run(`document.getElementById('${id}').value = '${value}'`)
  const answerOf = async (path: string) => (await service.get(`/api/${path}`)).text()
  await choose('get-wealth-list--format', 'ndjson')
  const [[, rows] = []] = await sendForms(page, '#get-wealth-list')
  expect(rows).toBe(await answerOf('base/get-wealth-list?numbers=string&format=ndjson'))
  await choose('get-account-balance--numbers', 'number')
  const [[, balance] = []] = await sendForms(page, '#get-account-balance')
  const account = await page.run<string>("document.getElementById('get-account-balance--account').value")
  const expected = await answerOf(`account/get-account-balance?account=${account}`)
  expect(balance?.replaceAll(/\s/g, '')).toBe(expected.replaceAll(/\s/g, ''))
  expect(page.asked.join(' ')).not.toContain(service.key)
  await close(page)
}, 600_000)

test('reference in a browser: behind a path every address leads to the service', async () => {
  await using behind = servedBehind('/behind/a/proxy/', service)
  const page = await open('', {}, behind)
  expect(await page.run<string>('location.href')).toBe(`${behind.url}docs/en`)
  const [[line] = []] = await sendForms(page, '#get-overview')
  expect(line).toStartWith('HTTP 200')
  expect(await page.run<string>("document.querySelector('pre.sample').textContent")).toContain(`'${behind.url}api/`)
  await close(page, behind.url)
})

test('reference in a browser: search, form and answer are reachable by keyboard alone', async () => {
  const page = await open('docs/en', { width: 360 })
  const focused = () => page.run<string>('document.activeElement.id || document.activeElement.textContent')
  await page.press('Tab')
  expect(await focused()).toBe('Skip to the content')
  await page.press('/')
  expect(await focused()).toBe('find')
  await page.type('get-producer-voter')
  const { action } = actions.find(each => formatActionName(each) === 'get-producer-voter') ?? { action: '' }
  expect(await page.run<string>("document.getElementById('found').textContent")).toBe('Matches: 2')
  // A guide mentions the action, too. The entry of that name must open.
  await page.press('Enter')
  await page.until(`document.querySelector('#${action} > details').open`)
  expect(await focused()).toContain(action)
  // Without a key nothing is sent, and the key field gets the focus.
  await page.run(`document.querySelector('#${action} form button').focus()`)
  await page.press('Enter')
  await page.until("document.activeElement.id === 'key'")
  expect(page.asked.join(' ')).not.toContain('/api/')
  await page.type(service.key)
  await page.run(`document.querySelector('#${action} form input').focus()`)
  await page.press('Enter')
  await page.until(`document.querySelector('#${action} .answer p').textContent.startsWith('HTTP 200')`)
  await close(page)
})

test('plots in a browser: a chain that is a day old has one narrow bar and no future day', async () => {
  const { store, destroy } = await temporarySqlite()
  const blocks = votedChain(seeded(11), { quiet: 1, busy: 1 }).slice(0, 1)
  await commitRuns(store, [blocks], { lib: 0 })
  await using young = servedBehind('/', serviceOn(store, { explorer: true }))
  const page = await browser.open()
  await page.letRun(false)
  await page.go(`${young.url}statistics/transactions`)
  const bar = await page.run<number>(`{
    const svg = document.querySelector('figure.plot svg.drawing')
    svg.querySelector('path:not(.grid)').getBoundingClientRect().width / svg.getBoundingClientRect().width
  }`)
  expect(bar).toBeLessThan(0.06)
  const labels = `[...document.querySelectorAll('figure.plot :is(.values span, .dates text)')].map(each => each.textContent)`
  expect(await page.run<unknown>(labels)).toEqual(['1', '0', toIso(blocks[0]?.block.time ?? 0n).slice(5, 10)])
  await page.close()
  await destroy()
})

test('plots in a browser: the value under the pointer is shown, the layout stays, and the plot is restored when the pointer leaves', async () => {
  const page = await open('account/busyhub', { width: 1_400 }, explored)
  const figure = "document.querySelector('.activity figure.plot')"
  const told = "document.querySelector('.activity .told').textContent"
  const size = `JSON.stringify(${figure}.getBoundingClientRect())`
  const points = await page.run<readonly string[]>(`${figure}.dataset.points.split('|')`)
  const [before, sizeBefore] = [await page.run<string>(told), await page.run<string>(size)]
  expect([points.length, before]).toEqual([30, 'Highest: 18,261 on 2026-11-21'])
  for (const at of [0, 7, points.length - 1]) {
    await page.run(`{
      const { left, width, top } = ${figure}.querySelector('.drawing').getBoundingClientRect()
      const clientX = left + (${at} + 0.5) * width / ${points.length}
      ${figure}.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX, clientY: top + 9 }))
    }`)
    expect(await page.run<string>(told)).toBe(points[at] ?? '')
  }
  expect(await page.run<string>(size)).toBe(sizeBefore)
  await page.run(`${figure}.dispatchEvent(new PointerEvent('pointerout', { bubbles: true }))`)
  expect(await page.run<unknown>(`[${told}, document.querySelector('.pointed')]`)).toEqual([before, null])
  await page.close()
})
