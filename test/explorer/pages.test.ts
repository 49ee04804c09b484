import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatGrouped } from '#explorer/format/amount.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { SOAK } from '../support/processes/soak.ts'
import { ROOT } from '../support/root.ts'
import { brokenOf, crawl, filesMissing } from './crawl.ts'
import { strayFigures } from './numbers.ts'
import { foreignIn, unescapeHtml } from './read-page.ts'
import { choosePages, inChinese, samplePaths } from './samples.ts'
import { type Explorer, explorerOn, HTML } from './served.ts'

const explorer = await explorerOn()
const paths = await samplePaths(explorer)
const opened = new Map<string, ReturnType<Explorer['visit']>>()
/** A page as it was when a test first opened it: the tests look at the same pages. */
function visit(path: string): ReturnType<Explorer['visit']> {
  const page = opened.get(path) ?? explorer.visit(path)
  opened.set(path, page)
  return page
}
afterAll(() => opened.clear())

const MAX_BYTES = 120_000
const ORIGIN = 'http://127.0.0.1:8080'

const metaOf = (html: string, name: string): string =>
  unescapeHtml(new RegExp(`<meta (?:property|name)="${name}" content="([^"]*)"`).exec(html)?.[1] ?? '')

test('every page of the explorer: works in both languages, has its own title and no foreign markup', async () => {
  const titles = new Map<string, string>()
  for (const path of [...paths, ...inChinese(paths)]) {
    const { response, ...page } = await visit(path)
    const { html, title, heading } = page
    const lang = path.startsWith('/zh') ? 'zh-CN' : 'en'
    expect([path, response.status, response.headers.get('content-language')]).toEqual([path, 200, lang])
    expect([path, html.includes(`<html lang="${lang}">`), heading === '']).toEqual([path, true, false])
    expect([path, foreignIn(page), html.length > MAX_BYTES]).toEqual([path, [], false])
    // A later page of a list has the title of the list.
    if (!path.includes('?')) {
      expect([path, titles.get(title)]).toEqual([path, undefined])
      titles.set(title, path)
    }
  }
})

test('no page leads to a path that the examples of proxies keep for operators', async () => {
  const examples = ['nginx/iostlens.conf', 'nginx/path.conf'].map(each =>
    readFileSync(join(ROOT, 'packaging', each), 'utf8'),
  )
  const locations = examples.join('\n').matchAll(/location = (?:\/iost)?(\S+) \{ return 404; \}/g)
  const kept = [...new Set([...locations].map(([, path]) => path))]
  expect(kept.toSorted()).toEqual(['/metrics', '/status'])
  for (const path of [...paths, ...inChinese(paths), '/docs/en', '/docs/zh', '/nowhere']) {
    const { links } = await visit(path)
    const leading = links.filter(({ href }) => kept.includes(new URL(href, `http://localhost${path}`).pathname))
    expect([path, leading.map(({ href }) => href)]).toEqual([path, []])
  }
})

test('every page of the explorer: has the same figures and sections in Chinese, and each section a link to itself', async () => {
  for (const path of paths) {
    const [en, zh] = [await visit(path), await visit(`/zh${path}`)]
    expect([path, zh.values, zh.links.length]).toEqual([path, en.values, en.links.length])
    expect(zh.text).toMatch(/\p{Script=Han}/u)
    const [named = [], ids = []] = [en, zh].map(({ html }) =>
      [...html.matchAll(/<h2([^>]*)>/g)].map(([, at = '']) => /^ id="([a-z_-]+)"$/.exec(at)?.[1]),
    )
    expect([path, ids]).toEqual([path, named])
    for (const id of named) expect([path, id, en.html.split(` id="${id}"`).length]).toEqual([path, id, 2])
    const anchors = [...en.html.matchAll(/<a class="anchor" href="#([^"]*)" aria-label="Link to this section: /g)]
    expect([path, anchors.map(([, id]) => id)]).toEqual([path, named])
  }
})

test('every figure of a page is an answer of the API at that height', async () => {
  let compared = 0
  for (const path of paths) {
    const page = await visit(path)
    expect([path, await strayFigures(explorer, path, page)]).toEqual([path, []])
    compared += page.values.length
  }
  expect(compared).toBeGreaterThan(1_000)
})

test('the full text behind a shortened one is one link away, and needs no key', async () => {
  const [first] = await explorer.list('base/get-transaction-list', { size: '1', sort: 'asc' })
  const tx_hash = String(first?.['tx_hash'])
  const { html } = await visit(`/tx/${tx_hash}`)
  expect(html).toContain(`href="../tx/${tx_hash}?raw=1"`)
  const { transaction } = await explorer.call('transaction/get-transaction-detail', { tx_hash })
  const contract = paths.find(path => path.startsWith('/contract/Contract'))?.slice('/contract/'.length) ?? ''
  const { code } = await explorer.call('contract/get-contract-code', { contract })
  const read = async (path: string) => {
    const response = await explorer.ask(`${path}?raw=1`)
    return [response.headers.get('content-type'), await response.text()] as const
  }
  const [type, text] = await read(`/tx/${tx_hash}`)
  expect([type, JSON.parse(text)]).toEqual(['application/json; charset=utf-8', transaction])
  expect(code).not.toBe('')
  expect(await read(`/contract/${contract}`)).toEqual(['text/plain; charset=utf-8', code])
})

test('any page of a list can be opened by its number, with the same filters', async () => {
  const { html } = await visit('/account/busyhub?token=iost&from=2026-11-21&page=7')
  const [form = ''] = /<form class="to-page".*?<\/form>/s.exec(html) ?? []
  const [, last = ''] = /name="page"[^>]* max="(\d+)"/.exec(form) ?? []
  const hidden = [...form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(
    ([, name, value]) => `${name}=${value}`,
  )
  expect(hidden).toEqual(['token=iost', 'from=2026-11-21'])
  const { text, html: end } = await visit(`/account/busyhub?${hidden.join('&')}&page=${last}`)
  expect(Number(last)).toBeGreaterThan(3)
  expect(text.replaceAll(',', '')).toContain(`Page ${last} of ${last} ·`)
  expect(end).not.toContain('rel="next"')
  expect((await visit('/producers')).html).not.toContain('class="to-page"')
})

test('every link leads to a page: without a prefix, behind a base path, and behind a proxy that removes a prefix', async () => {
  const all = await crawl({ explorer, most: SOAK ? 12 : 2, from: [...paths, ...inChinese(paths)] })
  // All transactions of the recorded chain are of one day, and too many for a file.
  expect([brokenOf(all), filesMissing(all)]).toEqual([[], ['/transactions.csv']])
  const from = ['/', '/zh/']
  const behind = await explorerOn({ basePath: '/iost', isKeyless: true })
  for (const options of [
    { explorer, seenAt: '/chain/v1' },
    { explorer: behind, basePath: '/iost', seenAt: '/iost' },
    { explorer: behind, basePath: '/iost', seenAt: '/proxy/iost' },
  ]) {
    const crawled = await crawl({ ...options, from, most: SOAK ? 12 : 1 })
    const isCall = ({ path }: (typeof crawled)[number]): boolean => path.startsWith('/api/')
    // Without a test key no page leads to a call, and files work.
    expect([brokenOf(crawled), crawled.some(isCall)]).toEqual([[], options.explorer === explorer])
    expect(crawled.filter(({ path }) => path.includes('.csv')).length).toBeGreaterThan(3)
  }
})

test.each([
  ['/block/7', ['Home ../', 'Blocks ../blocks']],
  ['/tx/1', ['Home ../', 'Transactions ../transactions']],
  ['/token/iost', ['Home ../', 'Tokens ../tokens']],
  ['/contract/token.iost', ['Home ../', 'Contracts ../contracts']],
  ['/producer/producer000', ['Home ../', 'Producers ../producers']],
  ['/statistics/votes', ['Home ../', 'Statistics ../statistics']],
  ['/zh/nft/nft_cats/1', ['首页 ../../', 'NFT 合集 ../../nfts', '所属合集 ../../nft/nft_cats']],
  ['/nft/nft_cats', ['Home ../', 'NFTs ../nfts']],
  ['/nft/a%2Fb/1', ['Home ../../', 'NFTs ../../nfts', 'NFT collection ../../nft/a%2Fb']],
  ['/account/busyhub/iost', ['Home ../../', 'Account ../../account/busyhub']],
  ...['/', '/blocks', '/account/busyhub'].map(each => [each, []] as const),
] as const)('breadcrumbs: %s links to the list of such things and to the first page', async (path, crumbs) => {
  const [, list = ''] = /<nav class="crumbs"[^>]*><ol>(.*?)<\/ol>/s.exec((await visit(path)).html) ?? []
  const shown = [...list.matchAll(/<a href="([^"]*)">([^<]*)/g)].map(([, href, name]) => `${name} ${href}`)
  expect(shown).toEqual([...crumbs])
})

test('times: nothing after the last loaded block is told as an age, and nothing before it as to come', async () => {
  const last = Number((await recordedBlocks()).at(-1)?.block.time ?? 0n) / 1e6
  const later = 10 * 86_400_000
  const late = await explorerOn({ isKeyless: true, now: () => last + later })
  let compared = 0
  const some = choosePages(paths, 2)
  for (const path of [...some, ...inChinese(some)]) {
    const { html } = await late.visit(path)
    for (const [, iso = '', words = ''] of html.matchAll(/<time class="ago" datetime="([^"]*)"[^>]*>([^<]*)</g)) {
      expect([path, words, / ago$|前$/.test(words)]).toEqual([path, words, Date.parse(iso) <= last])
      compared += 1
    }
  }
  expect(compared).toBeGreaterThan(30)
  // What was due after the last loaded block says so.
  const [{ html, text }, zh] = await late.visitBoth('/account/user_001')
  const [, iso = ''] = /Next to become available.*?datetime="([^"]*)"/s.exec(html) ?? []
  expect([Date.parse(iso) > last, Date.parse(iso) < last + later]).toEqual([true, true])
  expect(text).toContain('(past, but after the last loaded block)')
  expect(zh.text).toContain('（已过，但晚于最新已加载的区块）')
})

test('previews: all pages name one picture, with an absolute address and its size; browsers may keep it', async () => {
  const seen = new Set<string>()
  for (const path of [...paths, ...inChinese(paths), '/account/nosuch']) {
    const { html, title } = await visit(path)
    const [name, locale] = path.startsWith('/zh') ? ['IOST 浏览器', 'zh_CN'] : ['IOST explorer', 'en_US']
    const sizes = ['og:image:width', 'og:image:height', 'twitter:card', 'og:image:alt', 'og:site_name', 'og:locale']
    const shown = sizes.map(each => metaOf(html, each))
    expect([path, shown]).toEqual([path, ['1200', '630', 'summary_large_image', name, name, locale]])
    seen.add(metaOf(html, 'og:image'))
    if (path.includes('nosuch')) continue
    expect([path, title]).toEqual([path, expect.stringMatching(/ · IOST$|^IOST/)])
    expect([path, metaOf(html, 'og:description')]).toEqual([path, metaOf(html, 'description')])
  }
  expect(seen.size).toBe(1)
  const { origin, pathname } = new URL([...seen][0] ?? '')
  const response = await explorer.ask(pathname)
  const png = new DataView(await response.arrayBuffer())
  expect([origin, response.status, png.getUint32(16), png.getUint32(20)]).toEqual([ORIGIN, 200, 1_200, 630])
  const told = ['content-type', 'cache-control', 'content-length'].map(each => response.headers.get(each))
  expect(told).toEqual(['image/png', 'public, max-age=31536000, immutable', String(png.byteLength)])
  // Nothing is drawn for a single page.
  for (const path of ['/picture.png', '/account/admin/picture.png', '/token/iost/picture.png'])
    expect([path, (await explorer.ask(path)).status]).toEqual([path, 404])
  const behind = await explorerOn({ basePath: '/iost' })
  const own = new URL(metaOf((await behind.visit('/iost/token/iost')).html, 'og:image')).pathname
  expect([own, (await behind.ask(own)).status]).toEqual([`/iost${pathname}`, 200])
})

test('previews: figures in the descriptions match the API', async () => {
  const describePage = async (path: string) => metaOf((await visit(path)).html, 'og:description')
  const { call } = explorer
  for (const account of ['busyhub', 'admin', 'user_001', '__proto__', 'vote.iost']) {
    const { balance, frozen_balance } = await call('account/get-account-balance', { account })
    // The page shows the same sum.
    const { html } = await visit(`/account/${account}`)
    const [, total = ''] = /<dt>Total<\/dt><dd>.*?<data value="([^"]*)"/s.exec(html) ?? []
    const amounts = `${formatGrouped(total)} iost: ${formatGrouped(balance)} available, ${formatGrouped(frozen_balance.total)} frozen, `
    expect(await describePage(`/account/${account}`)).toContain(`${account} on IOST holds ${amounts}`)
  }
  const token = await call('token/get-token-detail', { token: 'iost' })
  const figures = [token.current_supply, token.total_supply, token.holder_count]
  const [supply, most, holders] = figures.map(figure => formatGrouped(String(figure)))
  const paid = 'EtsagS1FGY4f1kEZGu8zoryj8pXKSBazcHujbC4c958e'
  for (const [path, said] of [
    ['/token/iost', `Token iost on IOST: supply ${supply} of at most ${most}, ${holders} holders.`],
    ['/zh/token/iost', `IOST 代币 iost：供应量 ${supply}，上限 ${most}，${holders} 个持有者。`],
    ['/block/4824', 'Block 4,824 of the IOST chain: 2026-11-21 08:25:19 UTC, produced by producer000, '],
    [`/tx/${paid}`, `Success: 0.5 iost from busyhub to user_001. Transaction ${paid} of the IOST chain.`],
    [`/zh/tx/${paid}`, `成功：busyhub 向 user_001 转出 0.5 iost。IOST 交易 ${paid}。`],
    ['/tx/4qDBRfj8UZTQWMrkuh3chkrXE31d3yh6hpoA3MvTKuaL', 'An action failed: by '],
  ] as const)
    expect(await describePage(path)).toStartWith(said)
})

/** The canonical address of a page, those of its languages, and its rules for robots. */
function addressesIn(html: string) {
  const links = html.matchAll(/<link rel="(?:canonical|alternate)"(?: hreflang="[^"]*")? href="([^"]*)"/g)
  return { links: [...links].map(([, to]) => to), robots: metaOf(html, 'robots') }
}

test('search engines: the address of a page is absolute if it is known, otherwise relative', async () => {
  const behind = 'https://iost.example/behind/'
  for (const [path, over, headers, root] of [
    ['/zh/token/iost', {}, {}, `${ORIGIN}/`],
    ['/iost/zh/token/iost', { basePath: '/iost' }, {}, `${ORIGIN}/iost/`],
    ['/zh/token/iost', { publicUrl: behind }, {}, behind],
    ['/zh/token/iost', {}, { 'X-Forwarded-Proto': 'https' }, '../../'],
  ] as const) {
    const { html } = await (await explorerOn(over)).visit(path, headers)
    const links = ['zh/token/iost', 'token/iost', 'zh/token/iost'].map(each => root + each)
    expect([path, addressesIn(html)]).toEqual([path, { links, robots: '' }])
  }
})

test('search engines: a page has one canonical address for all spellings of its path', async () => {
  const contract = 'Contract5aHQiyi3zX8bwRWao4fMvxFi5UabjPPaqhUJ8eyUb9RW'
  const hash = contract.replace('Contract', '')
  const { block } = await explorer.call('block/get-block-detail', { number: '7' })
  for (const [path, only] of [
    ['/block/007', '/block/7'],
    [`/block/${block.hash}`, '/block/7'],
    ['/account/%62usyhub', '/account/busyhub'],
    ['/account/busyhub/%69ost', '/account/busyhub/iost'],
    [`/contract/${hash}`, `/contract/${contract}`],
    [`/contract/${hash}/storage`, `/contract/${contract}/storage`],
    [`/account/${hash}`, `/account/${contract}`],
    ['/nft/nft_cats/008', '/nft/nft_cats/8'],
    ['/token/%69ost', '/token/iost'],
    ['/producer/%70rod_01', '/producer/prod_01'],
    ['/blocks', '/blocks'],
  ] as const) {
    const { html, response } = await visit(`/zh${path}`)
    const zh = `${ORIGIN}/zh${only}`
    expect([path, response.status, addressesIn(html).links]).toEqual([path, 200, [zh, ORIGIN + only, zh]])
    expect([path, metaOf(html, 'og:url')]).toEqual([path, zh])
  }
})

test('search engines: later pages, searches and chosen periods have the noindex rule', async () => {
  const indexed = ['/', '/blocks', '/wealth', '/statistics', '/statistics/votes', '/account/busyhub']
  const others = ['/blocks?page=2', '/token/iost?holders=1', '/search?text=b', '/statistics?end_date=2026-11-20']
  for (const path of [...indexed, ...others])
    expect([path, metaOf((await visit(path)).html, 'robots')]).toEqual([path, others.includes(path) ? 'noindex' : ''])
})

const contentsOf = (html: string) =>
  [...html.matchAll(/<h[23][^>]*>([^<]*)<|<figure class="plot/g)].map(([, title]) => title)

/** Tracking parameters, empty form fields, and the first page of a list. */
const WITHOUT_MEANING = [
  'utm_source=news&utm_medium=mail&fbclid=IwAR0&lang=en',
  'page=&direction=&counterparty=&token=&func_name=&from=&to=&start_block=&end_block=&start_date=&end_date=',
  'page=1',
]

test('search engines: parameters without a meaning for a page do not change it, neither for them nor for visitors', async () => {
  for (const path of [
    ...['/account/busyhub', '/account/user_001/iost', '/token/iost', '/nft/nft_cats', '/nft/nft_cats/8'],
    ...['/contract/token.iost', '/contract/token.iost/storage', '/producer/prod_01', '/block/4851'],
    ...['/blocks', '/producers', '/wealth', '/statistics', '/statistics/votes'],
  ]) {
    const whole = await visit(path)
    for (const query of WITHOUT_MEANING) {
      const { html, response } = await visit(`${path}?${query}`)
      expect([path, query, response.status]).toEqual([path, query, 200])
      expect([path, addressesIn(html)]).toEqual([path, addressesIn(whole.html)])
      expect([path, contentsOf(html)]).toEqual([path, contentsOf(whole.html)])
    }
  }
})

test('search engines: the sitemap is bounded, its addresses are pages, and robots.txt names it', async () => {
  const publicUrl = 'https://iost.example/'
  const { ask } = await explorerOn({ publicUrl })
  const answer = await ask('/sitemap.xml')
  expect(answer.headers.get('content-type')).toBe('application/xml; charset=utf-8')
  const text = await answer.text()
  const found = [...text.matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, url = '']) => url)
  expect([found.length > 200, found.length <= 2 * (8 + 4 * 100)]).toEqual([true, true])
  expect(new Set(found).size).toBe(found.length)
  for (const [at, url] of found.entries()) {
    expect(url).toStartWith(publicUrl)
    if (at % 20 !== 0) continue
    const path = `/${unescapeHtml(url.slice(publicUrl.length)).replaceAll('&apos;', "'")}`
    expect([path, (await ask(path, { headers: { accept: HTML } })).status]).toEqual([path, 200])
  }
  const robots = await (await ask('/robots.txt')).text()
  for (const line of ['Sitemap: https://iost.example/sitemap.xml', 'Disallow: /zh/search', 'Disallow: /live'])
    expect(robots).toContain(`${line}\n`)
  for (const path of ['/sitemap.xml', '/llms.txt', '/openapi.json'])
    expect([path, /\blive\b/.test(await (await ask(path)).text())]).toEqual([path, false])
  expect(robots).not.toContain('Disallow: /\n')
})
