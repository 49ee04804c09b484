import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Profile } from '#actions/define.ts'
import { pages } from '#explorer/pages.ts'
import { createNode } from '#node/archive-node.ts'
import { serveReplay } from '#test/replay/serve.ts'
import { patientClock } from '#test/support/clocks/patient-clock.ts'
import { serveGenerated } from '../generator/serve.ts'
import { small } from '../generator/small.ts'
import { auditPage, WORDS_AND_COLOURS } from '../support/browser/axe.ts'
import { shareBrowser } from '../support/browser/browser.ts'
import type { Page } from '../support/browser/page.ts'
import { type Served, servedBehind } from '../support/browser/served.ts'
import { recording } from '../support/nodes/recording.ts'
import { SOAK } from '../support/processes/soak.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { action, chainOf, genesis, receipt, transaction } from '../support/stores/hand-made.ts'
import { loadFrom, temporarySqlite } from '../support/stores/loading.ts'
import { nodeText } from '../support/stores/node-text.ts'
import { findFaults } from './layout-faults.ts'
import { inChinese, samplePaths } from './samples.ts'
import { type Explorer, explorerOn } from './served.ts'

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
const stack = new AsyncDisposableStack()
let explorer: Explorer
let served: Served
beforeAll(async () => {
  const replay = serveReplay({ recording: await recording() })
  stack.defer(() => replay.stop())
  const node = createNode({ urls: [replay.url], clock: patientClock })
  stack.defer(() => node.close())
  await node.watch(async () => undefined)
  explorer = await explorerOn({
    node,
    prices: { get: () => ({ usd: '0.0123', cny: '0.0881', rank: 321, time: '2026-11-21T00:00:00.000Z' }) },
    profiles: { get: () => PROFILE },
  })
  served = stack.use(servedBehind('/', explorer))
})
afterAll(() => stack.disposeAsync())

/** At least one page of each kind. */
const ADDRESSES = [
  ...['', 'search?text=prod', 'search?text=no%20such%20thing', 'blocks', 'blocks?page=3', 'block/4824', 'block/0'],
  ...[
    'tokens',
    'token/iost',
    'token/iost?holders=1',
    'nfts',
    'nft/nft_cats',
    'nft/nft_cats?owners=1',
    'nft/nft_cats/0',
  ],
  ...['producers', 'producers?by=voters', 'producer/producer000', 'wealth', 'statistics', 'statistics/transactions'],
  ...['transactions', 'transactions?page=500', 'tx/EtsagS1FGY4f1kEZGu8zoryj8pXKSBazcHujbC4c958e'],
  // A transaction that failed after several actions.
  'tx/9PuqyNavM7r8jMAwpzuaEp9syibZRaURXwgHbckve53p',
  ...['account/busyhub', 'account/__proto__', 'account/busyhub/iost', 'contracts', 'contract/token.iost'],
  'contract/token.iost/storage?key=TIiost',
  'contract/Contract5aHQiyi3zX8bwRWao4fMvxFi5UabjPPaqhUJ8eyUb9RW',
  'no/such/page',
]

/** Pages for programs. */
const PIECES = ['/suggest', '/sitemap.xml']

test('layout: every page of the explorer is in the list', () => {
  const paths = ADDRESSES.map(address => `/${address.replace(/\?.*/, '')}`)
  const looked = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
  const missed = pages.filter(({ path }) => !paths.some(each => looked(path).test(each)))
  expect(missed.map(({ path }) => path)).toEqual(PIECES)
})

/** The smallest widths of a phone, a tablet and a desktop. */
const LEAST = [360, 761, 1_153]
/** Between them, the smallest widths of the other layouts; a long run adds usual and largest ones. */
const WIDTHS = [
  ...[...LEAST, 561, 961],
  ...(SOAK ? [390, 480, 481, 600, 759, 768, 900, 960, 1_024, 1_151, 1_280, 1_400] : []),
]
/** The widths for further pages of the same layouts. */
const FEW = SOAK ? WIDTHS : LEAST

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

/** Console messages without those for the expected answers 404 and 400. */
const quietIn = (page: Page): readonly string[] =>
  page.said.filter(line => !/404.*(?:no\/such\/page|statistics)|400.*\/search/.test(line))

/** Requests to other hosts. Chromium's own icons, such as a calendar, cause no request. */
const elsewhereOf = (page: Page): readonly string[] =>
  page.asked.filter(asked => !asked.startsWith(served.url) && !asked.startsWith('data:image/svg+xml;'))

/**
 * How a page is opened and checked: half of all pages on a phone in the light theme by every rule, the others
 * on a desktop in the dark theme. The other language swaps the two halves. Half of the pages of each half are audited
 * in one language, the others in the other one; a long run audits all in both.
 */
function lookAt(at: number, lang: 'en' | 'zh') {
  const isAudited = SOAK || Math.floor(at / 2) % 2 === (lang === 'en' ? 0 : 1)
  return at % 2 === (lang === 'en' ? 0 : 1)
    ? ({ isAudited, width: 360, scheme: 'light', rules: {} } as const)
    : ({ isAudited, width: 1_400, scheme: 'dark', rules: WORDS_AND_COLOURS } as const)
}

/** Names of page parts in Latin letters alone, without words that Chinese has adopted. */
const UNTRANSLATED = `[...document.querySelectorAll('h1 small, h2, th, dt, label span, button, nav a, .inner > summary, [aria-label], [placeholder], .badge')]
  .flatMap(each => [each.matches('[data-copy]') ? '' : each.textContent, each.ariaLabel ?? '', each.placeholder ?? ''])
  .filter(text => /[A-Za-z]/.test(text) && !/\\p{Script=Han}/u.test(text) && !/^(?:gas|RAM|UTC)$/i.test(text.trim()) && text !== ${JSON.stringify(RUN)})`

test.each(['en', 'zh'] as const)('layout: every page is correct at every width, light and dark, %s', async lang => {
  const page = await browser.open()
  const base = lang === 'en' ? served.url : `${served.url}zh/`
  for (const [at, address] of ADDRESSES.entries()) {
    const { isAudited, width, scheme, rules } = lookAt(at, lang)
    await page.prefer(scheme)
    await page.resize(width)
    const url = `${base}${address}${address === '' && lang === 'en' ? '?lang=en' : ''}`
    expect([address, await staysPut(page, url)]).toEqual([address, true])
    if (isAudited) expect([address, await auditPage(page, rules)]).toEqual([address, []])
    if (lang === 'zh') expect([address, await page.run(UNTRANSLATED)]).toEqual([address, []])
    expect([address, await findFaults(page, lang === 'en' ? WIDTHS : FEW)]).toEqual([address, []])
  }
  expect(quietIn(page)).toEqual([])
  expect(elsewhereOf(page)).toEqual([])
  await page.close()
})

test('layout: hostile texts run no script, lead to no other site and cause no request', async () => {
  const page = await browser.open()
  const text = encodeURIComponent(RUN)
  const found = `[...document.querySelectorAll('main :is(script, img, [onerror], [onload], [style], a[href^="javascript:"])')].length`
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
  expect(quietIn(page)).toEqual([])
  expect(elsewhereOf(page)).toEqual([])
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
  for (const [at, address] of ADDRESSES.entries()) {
    await page.prefer(lookAt(at, 'en').scheme)
    await page.go(`${served.url}${address}${address === '' ? '?lang=en' : ''}`)
    for (const width of FEW) {
      await page.resize(width)
      expect([address, await page.run(UNSCRIPTED)]).toEqual([address, { wide: width, buttons: 0, plots: 0, same: 0 }])
    }
  }
  expect(quietIn(page)).toEqual([])
  await page.close()
})

test('layout: a page printed from the dark theme is dark on white, without controls', async () => {
  const page = await browser.open({ width: 794 })
  await page.prefer('dark', 'print')
  const grounds = `[...new Set([...document.querySelectorAll('body, .card')].map(each => getComputedStyle(each).backgroundColor))]`
  const folded = `[...document.querySelectorAll('main details > :not(summary)')].filter(each => !each.checkVisibility({ contentVisibilityAuto: true })).length`
  const pressed = `[...document.querySelectorAll('button, input, .steps a')].filter(each => each.checkVisibility()).map(each => each.outerHTML)`
  for (const address of [
    'account/busyhub',
    ADDRESSES.find(each => each.startsWith('tx/')),
    'statistics/transactions',
  ]) {
    await page.go(`${served.url}${address}`)
    expect([address, await auditPage(page, WORDS_AND_COLOURS)]).toEqual([address, []])
    const shown = await page.run(`[${grounds}, ${folded}, ${pressed}]`)
    expect([address, shown]).toEqual([address, [['rgb(255, 255, 255)'], 0, []]])
  }
  await page.close()
})

type Drawn = {
  readonly paths: readonly string[]
  /** An expression that changes each page before it is looked at. */
  readonly change?: string
  readonly widths: readonly number[]
}

/** The faults of pages. */
async function findFaultsOf(on: Served, { paths, change = '0', widths }: Drawn): Promise<readonly unknown[]> {
  const page = await browser.open({ scheme: 'light' })
  const found: unknown[] = []
  for (const path of paths) {
    await page.go(`${on.url}${path.slice(1)}`)
    await page.run(change)
    for (const fault of await findFaults(page, widths)) found.push([path.slice(0, 40), fault])
  }
  await page.close()
  return found
}

/** A kind of pages that differ little in their layout: with the same first part and the same names of parameters. */
const toKind = (path: string): string => path.replace(/(?<=^\/\w+\/)[^/?]+/, '').replaceAll(/=[^&]*/g, '')

/** The first pages of each kind. */
function choosePages(paths: readonly string[], each: number): readonly string[] {
  const opened = new Map<string, number>()
  return paths.filter(path => {
    const kind = toKind(path)
    const count = opened.get(kind) ?? 0
    opened.set(kind, count + 1)
    return count < each
  })
}

test('layout: pages with filters, and transactions of each kind, fit', async () => {
  const samples = await samplePaths(explorer)
  const transactions = samples.filter(path => path.startsWith('/tx/'))
  const others = samples.filter(path => !path.startsWith('/tx/'))
  // The pages of the list are checked above.
  const listed = new Set(ADDRESSES.map(address => toKind(`/${address}`)))
  const chosen = (each: number) =>
    SOAK
      ? choosePages(others, each)
      : choosePages(
          others.filter(path => !listed.has(toKind(path))),
          1,
        )
  // Every so many transactions of the samples have another kind of end.
  const every = (count: number) => transactions.filter((_path, at) => at % count === 0)
  const missing = ['/token/maxcap', '/account/nobody00', '/search?text=nothing', '/block/99999999']
  const paths = [
    ...[...chosen(3), ...every(6), ...missing],
    ...inChinese([...(SOAK ? chosen(1) : []), ...every(12), ...missing]),
  ]
  expect(await findFaultsOf(served, { paths: [...paths, '/status?lang=en', '/status?lang=zh'], widths: FEW })).toEqual(
    [],
  )
})

/** An account with the longest name. */
const HEX = `0x${'d4'.repeat(20)}`
/** Names of eleven characters, the longest that people choose. */
const LONG = 'mwmwmwmwmwm'

test('layout: rows with the longest names, and with failures of every kind, fit as well', async () => {
  const { store, destroy } = await temporarySqlite()
  const told = (made: Parameters<typeof transaction>[0]) => {
    const tx = transaction(made)
    return { ...tx, body: nodeText(tx) }
  }
  const codes = ['BALANCE_NOT_ENOUGH', 'RUNTIME_ERROR', 'DUPLICATE_SET_CODE', 'GAS_RUN_OUT', 'SUCCESS']
  const first = genesis()
  const moved = (from: string, to: string) => ['iost', from, to, '123.12345678', 'memo']
  const blocks = chainOf(
    [{ ...first, body: nodeText(first) }],
    [told({ receipts: [HEX, LONG].map(name => receipt('auth.iost/signUp', [name, 'owner', 'active'])) })],
    [HEX, LONG].flatMap((publisher, at) =>
      codes.map(statusCode =>
        told({
          publisher,
          actions: [action('token.iost/transfer', moved(publisher, at === 0 ? LONG : HEX))],
          receipt: { statusCode },
        }),
      ),
    ),
  )
  await commitRuns(store, [blocks], { lib: 2 })
  const paths = ['/', '/blocks', '/transactions', `/account/${HEX}`, `/account/${LONG}`, '/contract/token.iost']
  await using on = servedBehind('/', await explorerOn({ isKeyless: true }, store))
  expect(await findFaultsOf(on, { paths: [...paths, ...inChinese(paths)], widths: WIDTHS })).toEqual([])
  await destroy()
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
  const node = serveGenerated({ ...small('busy'), blocks: 200 })
  await loadFrom(node.url, store, { prove: 'linked' })
  await node.stop()
  await using on = servedBehind('/', await explorerOn({ isKeyless: true }, store))
  const widths = [...[360, 761, 961], ...(SOAK ? [480, 759, 768, 820, 959, 1_151] : [])]
  const paths = ['/wealth', '/account/busy_hub', '/account/busy_hub/coin', '/token/coin?holders=1']
  expect(await findFaultsOf(on, { paths: [...paths, ...inChinese(paths)], widths })).toEqual([])
  expect(await findFaultsOf(on, { paths: ['/wealth', '/zh/wealth'], change: ENLARGED, widths })).toEqual([])
  const impossible = ['account', 'zh/tx', 'contract', 'token/coin?start_block='].map(
    each => `/${each}/${'W'.repeat(3_000)}`,
  )
  expect(await findFaultsOf(on, { paths: impossible, widths: [360, 768] })).toEqual([])
  await destroy()
})
