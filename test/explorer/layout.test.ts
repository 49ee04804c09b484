import { afterAll, expect, test } from 'bun:test'
import type { Profile } from '#actions/define.ts'
import { pages } from '#explorer/pages.ts'
import { createNode } from '#node/archive-node.ts'
import { serveGenerated } from '../generator/serve.ts'
import { small } from '../generator/small.ts'
import { serveReplay } from '../replay/serve.ts'
import { auditPage, WORDS_AND_COLOURS } from '../support/browser/axe.ts'
import { shareBrowser } from '../support/browser/browser.ts'
import type { Page } from '../support/browser/page.ts'
import { type Served, servedBehind } from '../support/browser/served.ts'
import { patientClock } from '../support/clocks/patient-clock.ts'
import { recording } from '../support/nodes/recording.ts'
import { SOAK } from '../support/processes/soak.ts'
import { action, receipt, transaction } from '../support/stores/hand-made.ts'
import { loadFrom, temporarySqlite } from '../support/stores/loading.ts'
import { choosePages, inChinese, samplePaths, toKind } from './samples.ts'
import { explorerOn, explorerOnMade } from './served.ts'

/**
 * A function of a page in the browser and the window's width: what is wrong with its layout, as sentences. A word of
 * the interface is any word outside of texts of the chain; of those, only words that are no longer than a name.
 */
const LAYOUT_FAULTS = `width => {
  const NAME = /^[\\w.]{1,16}$/
  /** Parts that scroll are this much wider than their card's content, for the outline of the focus. */
  const EDGE = 5
  const faults = new Set()
  const named = each => each.tagName.toLowerCase() + (each.getAttribute('class') ? '.' + each.getAttribute('class') : '')
  const note = (fault, each, text = '') =>
    faults.add(fault + ': ' + named(each.parentElement) + ' > ' + named(each) + ' ' + text.trim().slice(0, 40))
  const isShown = each => each.checkVisibility({ visibilityProperty: true }) && each.closest('.sr, .skip, .anchor, .cards thead') === null
  const everyShown = selector => [...document.querySelectorAll(selector)].filter(isShown)
  const styleOf = each => getComputedStyle(each)
  const scrollerOf = each => {
    for (let up = each; up !== null; up = up.parentElement) if (/auto|scroll/.test(styleOf(up).overflowX)) return up
  }
  const lines = rects => {
    const sorted = [...rects].filter(({ width }) => width > 0).sort((a, b) => a.top - b.top)
    let count = 0
    let bottom = -Infinity
    for (const rect of sorted) {
      if (rect.top + rect.height / 3 > bottom) count += 1
      bottom = Math.max(bottom, rect.bottom)
    }
    return count
  }
  const isCut = (each, size, shown) => each[size] > each[shown] + 1

  for (const isOpen of [false, true]) {
    for (const each of document.querySelectorAll('details')) each.open ||= isOpen
    const { scrollWidth } = document.documentElement
    if (scrollWidth !== width) note('not as wide as the window', document.body, scrollWidth + ' px')
  }
  for (const [size, shown, overflow] of [['scrollWidth', 'clientWidth', 'overflowX'], ['scrollHeight', 'clientHeight', 'overflowY']])
    for (const each of document.querySelectorAll('body *:not(input, textarea)'))
      if (isCut(each, size, shown) && /hidden|clip/.test(styleOf(each)[overflow]) && isShown(each)) note('cut', each, each.textContent)
  // What is in a part that scrolls is cut off at its edge.
  for (const card of document.querySelectorAll('main .card')) {
    const edge = card.getBoundingClientRect().right + 0.5
    for (const each of card.querySelectorAll('*'))
      if (each.getBoundingClientRect().right > edge && isShown(each) && each.closest('svg, pre, .inner') === null)
        note('beyond its card', each)
  }

  const range = document.createRange()
  /** Whether the selected text of an element leaves the part of the page around it, which does not scroll. */
  const isBeyond = each => {
    const around = each.closest('.card, .bar, main, .foot') ?? document.body
    const { right } = around.getBoundingClientRect()
    const edge = right - parseFloat(styleOf(around).paddingRight)
    return range.getBoundingClientRect().right > edge + EDGE && scrollerOf(each) === undefined
  }
  const segmenter = new Intl.Segmenter('zh', { granularity: 'word' })
  const wordsIn = (text, isLabel) =>
    isLabel && /\\p{Script=Han}/u.test(text)
      ? [...segmenter.segment(text)].filter(each => each.isWordLike).map(({ index, segment }) => [index, segment])
      : [...text.matchAll(/[^\\s\\-\\/…\\p{Script=Han}（）：，。、；“”]+/gu)].map(each => [each.index, each[0]])
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const parent = node.parentElement
    if (node.data.trim() === '' || !isShown(parent) || parent.closest('script, svg, pre, data, .number') !== null) continue
    // Texts of profiles are markup here.
    const isOurs = parent.closest('bdi, code, .chain, .prose, .failure') === null && !/<\\w/.test(node.data)
    const isLabel = parent.closest('th, dt, nav, button, .badge, .way, .tabs, .sorts, .label, summary') !== null && !parent.matches('summary > small')
    range.selectNodeContents(node)
    if (isBeyond(parent)) note('beyond its card', parent, node.data)
    if (lines(range.getClientRects()) < 2) continue
    for (const [index, word] of wordsIn(node.data, isLabel)) {
      if (!isOurs && !NAME.test(word)) continue
      range.setStart(node, index)
      range.setEnd(node, index + word.length)
      if (lines(range.getClientRects()) > 1) note('broken word', parent, word)
    }
  }
  for (const each of everyShown('data, .number')) {
    range.selectNodeContents(each)
    if (lines(range.getClientRects()) > 1) note('broken number', each, each.textContent)
    if (isBeyond(each)) note('beyond its card', each, each.textContent)
  }
  for (const each of everyShown('.lines i')) {
    const { height, lineHeight } = getComputedStyle(each, '::before')
    if (parseFloat(height) > 1.5 * parseFloat(lineHeight)) note('broken line number', each, height)
  }
  for (const each of everyShown('svg.dates')) {
    const labels = [...each.querySelectorAll('text')].map(text => text.getBoundingClientRect()).sort((a, b) => a.left - b.left)
    if (labels.some(({ left }, at) => at > 0 && left < labels[at - 1].right + 4)) note('labels touch', each, each.textContent)
  }
  for (const each of everyShown('.cards td .ago.day'))
    if (each.closest('.inner') === null && each.getBoundingClientRect().height > 2.5 * parseFloat(styleOf(each).lineHeight)) note('time of three lines', each, each.textContent)
  const header = lines([...document.querySelectorAll('.top :is(a, input, button)')].filter(isShown).map(each => each.getBoundingClientRect()))
  if (header > 2) note('header of ' + header + ' lines', document.querySelector('.top'))
  return [...faults]
}`

async function findFaults(page: Page, widths: readonly number[]): Promise<readonly string[]> {
  const found: string[] = []
  for (const width of widths) {
    await page.resize(width)
    const faults = await page.run<readonly string[]>(`(${LAYOUT_FAULTS})(${width})`)
    found.push(...faults.map(fault => `${fault} at ${width}`))
  }
  return found
}

const RUN = '<img src=x onerror=alert(1)><script>alert(2)</script>"\'><svg onload=alert(3)>'
const PROFILE: Profile = {
  ...{ alias: `节点${RUN}`, alias_en: `Node${RUN}`, statement: RUN, statement_en: RUN, type: '', type_en: '' },
  ...{ description: RUN.repeat(40), description_en: RUN.repeat(40), logo: 'https://elsewhere.example/logo.png' },
  social_media: { [RUN]: 'javascript:alert(4)', 网站: 'https://elsewhere.example/' },
}

const browser = await shareBrowser()
const replay = serveReplay({ recording: await recording() })
const node = createNode({ urls: [replay.url], clock: patientClock })
await node.watch(async () => undefined)
const price = { usd: '0.0123', cny: '0.0881', rank: 321, time: '2026-11-21T00:00:00.000Z' }
const explorer = await explorerOn({ node, prices: { get: () => price }, profiles: { get: () => PROFILE } })
const served = servedBehind('/', explorer)
afterAll(async () => {
  await served[Symbol.asyncDispose]()
  node.close()
  await replay.stop()
})

const ADDRESSES = [
  ...['', 'search?text=prod', 'search?text=no%20such%20thing', 'blocks', 'blocks?page=3', 'block/4824', 'block/0'],
  ...['tokens', 'token/iost', 'token/iost?holders=1'],
  ...['nfts', 'nft/nft_cats', 'nft/nft_cats?owners=1', 'nft/nft_cats/0'],
  ...['producers', 'producers?by=voters', 'producer/producer000', 'wealth', 'statistics', 'statistics/transactions'],
  ...['transactions', 'transactions?page=500', 'tx/EtsagS1FGY4f1kEZGu8zoryj8pXKSBazcHujbC4c958e'],
  // A transaction that failed after several actions.
  'tx/9PuqyNavM7r8jMAwpzuaEp9syibZRaURXwgHbckve53p',
  ...['account/busyhub', 'account/__proto__', 'account/busyhub/iost', 'contracts', 'contract/token.iost'],
  'contract/token.iost/storage?key=TIiost',
  'contract/Contract5aHQiyi3zX8bwRWao4fMvxFi5UabjPPaqhUJ8eyUb9RW',
  'no/such/page',
]

test('layout: every page of the explorer is in the list', () => {
  const kinds = pages.map(({ path }) => [path, new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}(\\?|$)`)] as const)
  const missed = kinds.filter(([, kind]) => !ADDRESSES.some(address => kind.test(`/${address}`)))
  expect(missed.map(([path]) => path)).toEqual(['/suggest', '/sitemap.xml'])
})

const LEAST = [360, 761, 1_153]
/** Between them, the smallest widths of the other layouts; a long run adds usual and largest ones. */
const WIDTHS = [
  ...[...LEAST, 561, 961],
  ...(SOAK ? [390, 480, 481, 600, 759, 768, 900, 960, 1_024, 1_151, 1_280, 1_400] : []),
]
/** The widths for further pages of the same layouts, and for the same pages in the other language. */
const FEW = SOAK ? WIDTHS : LEAST
const OTHER = SOAK ? WIDTHS : [360, 761]

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

async function staysPut(page: Page, url: string): Promise<boolean> {
  for (let load = 1; load <= LOADS; load += 1) {
    await page.go(url)
    const { sum, inParts } = await page.run<{ sum: number; inParts: boolean }>(SHIFT)
    if (sum < 0.05 || !inParts) return sum < 0.05
  }
  return false
}

/** Console messages without those for the expected answers 404 and 400, and requests to other hosts. */
const listTroubles = (page: Page): readonly string[] => [
  ...page.said.filter(line => !/404.*(?:no\/such\/page|statistics)|400.*\/search/.test(line)),
  // Chromium's own icons, such as a calendar, cause no request.
  ...page.asked.filter(asked => !asked.startsWith(served.url) && !asked.startsWith('data:image/svg+xml;')),
]

/**
 * How a page is opened and checked: half of all pages on a phone in the light theme by every rule, the others
 * on a desktop in the dark theme. The other language swaps the two halves. Half of the pages of each half are audited
 * in one language, the others in the other one. A long run audits all in both, and looks at every width.
 */
function lookAt(at: number, lang: 'en' | 'zh') {
  const isAudited = SOAK || Math.floor(at / 2) % 2 === (lang === 'en' ? 0 : 1)
  const isNarrow = at % 2 === (lang === 'en' ? 0 : 1)
  const widths = lang === 'zh' ? [isNarrow ? 360 : 761] : isNarrow ? LEAST : WIDTHS
  const look = isNarrow
    ? ({ width: 360, scheme: 'light', rules: {} } as const)
    : ({ width: 1_400, scheme: 'dark', rules: WORDS_AND_COLOURS } as const)
  return { isAudited, widths: SOAK ? WIDTHS : widths, ...look }
}

/** Names of page parts in Latin letters alone, without words that Chinese has adopted. */
const UNTRANSLATED = `[...document.querySelectorAll('h1 small, h2, th, dt, label span, button, nav a, .inner > summary, [aria-label], [placeholder], .badge')]
  .flatMap(each => [each.matches('[data-copy]') ? '' : each.textContent, each.ariaLabel ?? '', each.placeholder ?? ''])
  .filter(text => /[A-Za-z]/.test(text) && !/\\p{Script=Han}/u.test(text) && !/^(?:gas|RAM|UTC)$/i.test(text.trim()) && text !== ${JSON.stringify(RUN)})`

test.each(['en', 'zh'] as const)('layout: every page is correct at every width, light and dark, %s', async lang => {
  const page = await browser.open()
  const base = lang === 'en' ? served.url : `${served.url}zh/`
  for (const [at, address] of ADDRESSES.entries()) {
    const { isAudited, width, scheme, rules, widths } = lookAt(at, lang)
    await page.prefer(scheme)
    await page.resize(width)
    const url = `${base}${address}${address === '' && lang === 'en' ? '?lang=en' : ''}`
    expect([address, await staysPut(page, url)]).toEqual([address, true])
    const faults = isAudited ? await auditPage(page, rules) : []
    const untranslated = lang === 'zh' ? await page.run(UNTRANSLATED) : []
    expect([address, faults, untranslated, await findFaults(page, widths)]).toEqual([address, [], [], []])
  }
  expect(listTroubles(page)).toEqual([])
  await page.close()
})

test('layout: hostile texts run no script, lead to no other site and cause no request', async () => {
  const page = await browser.open()
  const text = encodeURIComponent(RUN)
  const found = `document.querySelectorAll('main :is(script, img, [onerror], [onload], [style], a[href^="javascript:"])').length`
  for (const address of [`search?text=${text}`, `statistics/${text}`, 'producers', 'producer/producer000']) {
    await page.go(`${served.url}${address}`)
    expect([address, await page.run<number>(found)]).toEqual([address, 0])
  }
  const outside = await page.run<readonly string[]>(
    `[...document.querySelectorAll('main a[href^=http]')].filter(({ origin }) => origin !== location.origin).map(({ href, rel }) => [href, rel].join(' '))`,
  )
  expect(outside).toContain('https://elsewhere.example/ nofollow noopener noreferrer ugc')
  expect(await page.run<string>('document.body.innerText')).toContain(RUN)
  await page.press('/')
  await page.type(RUN)
  await page.until("performance.getEntriesByType('resource').some(({ name }) => name.includes('/suggest?'))")
  expect(listTroubles(page)).toEqual([])
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

test('layout: every page is complete without scripts at every width, light and dark', async () => {
  const page = await browser.open()
  await page.letRun(false)
  const paths = ADDRESSES.map(address => `/${address}`)
  for (const [at, path] of (SOAK ? paths : choosePages(paths, 1)).entries()) {
    await page.prefer(lookAt(at, 'en').scheme)
    await page.go(`${served.url}${path === '/' ? '?lang=en' : path.slice(1)}`)
    for (const width of OTHER) {
      await page.resize(width)
      expect([path, await page.run(UNSCRIPTED)]).toEqual([path, { wide: width, buttons: 0, plots: 0, same: 0 }])
    }
  }
  expect(listTroubles(page)).toEqual([])
  await page.close()
})

test('layout: a page printed from the dark theme is dark on white, without controls', async () => {
  const page = await browser.open({ width: 794 })
  await page.prefer('dark', 'print')
  const grounds = `[...new Set([...document.querySelectorAll('body, .card')].map(each => getComputedStyle(each).backgroundColor))]`
  const folded = `[...document.querySelectorAll('main details > :not(summary)')].filter(each => !each.checkVisibility({ contentVisibilityAuto: true })).length`
  const pressed = `[...document.querySelectorAll('button, input, .steps a')].filter(each => each.checkVisibility()).map(each => each.outerHTML)`
  for (const address of ['account/busyhub', ADDRESSES.find(each => each.startsWith('tx/'))]) {
    await page.go(`${served.url}${address}`)
    expect([address, await auditPage(page, WORDS_AND_COLOURS)]).toEqual([address, []])
    const shown = await page.run(`[${grounds}, ${folded}, ${pressed}]`)
    expect([address, shown]).toEqual([address, [['rgb(255, 255, 255)'], 0, []]])
  }
  await page.close()
})

type Drawn = { readonly paths: readonly string[]; readonly widths: readonly number[]; readonly change?: string }

async function expectFit(on: Served, { paths, widths, change = '0' }: Drawn): Promise<void> {
  const page = await browser.open({ scheme: 'light' })
  for (const path of paths) {
    await page.go(`${on.url}${path.slice(1)}`)
    await page.run(change)
    expect([path.slice(0, 40), await findFaults(page, widths)]).toEqual([path.slice(0, 40), []])
  }
  await page.close()
}

async function expectFitInBoth(on: Served, drawn: Drawn): Promise<void> {
  await expectFit(on, drawn)
  await expectFit(on, { ...drawn, paths: inChinese(drawn.paths), widths: OTHER })
}

test('layout: pages with filters, and transactions of each kind, fit', async () => {
  const samples = await samplePaths(explorer)
  const transactions = samples.filter(path => path.startsWith('/tx/'))
  // The pages of the list are checked above.
  const listed = new Set(ADDRESSES.map(address => toKind(`/${address}`)))
  const others = samples.filter(path => SOAK || !listed.has(toKind(path)))
  const missing = ['/token/maxcap', '/account/nobody00', '/search?text=nothing', '/block/99999999']
  // Every so many transactions of the samples have another kind of end.
  const some = transactions.filter((_path, at) => at % 6 === 0)
  const paths = [...choosePages(others, SOAK ? 3 : 1), ...some, ...missing, '/status?lang=en', '/status?lang=zh']
  await expectFit(served, { paths, widths: FEW })
  await expectFit(served, { paths: inChinese(SOAK ? paths : missing), widths: OTHER })
})

const HEX = `0x${'d4'.repeat(20)}`
const LONG = 'mwmwmwmwmwm'

test('layout: rows with the longest names, and with failures of every kind, fit as well', async () => {
  const codes = ['BALANCE_NOT_ENOUGH', 'RUNTIME_ERROR', 'DUPLICATE_SET_CODE', 'GAS_RUN_OUT', 'SUCCESS']
  const signUps = [HEX, LONG].map(name => receipt('auth.iost/signUp', [name, 'owner', 'active']))
  const moves = [HEX, LONG].flatMap((publisher, at) => {
    const actions = [action('token.iost/transfer', ['iost', publisher, at === 0 ? LONG : HEX, '123.12345678', 'memo'])]
    return codes.map(statusCode => transaction({ publisher, actions, receipt: { statusCode } }))
  })
  await using service = await explorerOnMade([[transaction({ receipts: signUps })], moves], { isKeyless: true })
  await using on = servedBehind('/', service)
  const paths = ['/', '/blocks', '/transactions', `/account/${HEX}`, `/account/${LONG}`, '/contract/token.iost']
  await expectFitInBoth(on, { paths, widths: WIDTHS })
})

/** Writes amounts of eleven digits, ranks of five, and names of accounts and contracts of full length into every row. */
const ENLARGED = `for (const row of document.querySelectorAll('tbody tr')) {
  for (const each of row.querySelectorAll('td.digits:not(:last-child) data'))
    each.innerHTML = '<span>20,000,000,000</span><span class="minor">.12345678</span>'
  row.querySelector('.number').textContent = '12,345'
  row.querySelector('.name bdi').textContent = row.rowIndex % 2 ? 'producer000' : 'ContractDj…vRNp59'
}`

test('layout: amounts of most of all IOST fit, and the rich list with the longest amounts, names and ranks', async () => {
  const { store, destroy } = await temporarySqlite()
  const node = serveGenerated({ ...small('busy'), blocks: 100, holders: 300, voters: 50 })
  await loadFrom(node.url, store, { prove: 'linked' })
  await node.stop()
  await using on = servedBehind('/', await explorerOn({ isKeyless: true }, store))
  const widths = [...[360, 761, 961], ...(SOAK ? [480, 759, 768, 820, 959, 1_151] : [])]
  const paths = ['/account/busy_hub', '/account/busy_hub/coin', '/token/coin?holders=1']
  await expectFitInBoth(on, { paths: ['/wealth', ...paths], widths })
  await expectFitInBoth(on, { paths: ['/wealth'], change: ENLARGED, widths })
  const impossible = ['account', 'zh/tx', 'token/coin?start_block='].map(each => `/${each}/${'W'.repeat(3_000)}`)
  await expectFit(on, { paths: impossible, widths: [360, 768] })
  await destroy()
})
