import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { grouped } from '#explorer/format/amount.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { SOAK } from '../support/processes/soak.ts'
import { ROOT } from '../support/root.ts'
import { brokenOf, crawl, filesMissing } from './crawl.ts'
import { strayFigures } from './numbers.ts'
import { foreignIn } from './read-page.ts'
import { choosePages, inChinese, samplePaths } from './samples.ts'
import { type Explorer, explorerOn } from './served.ts'

let explorer: Explorer
let paths: readonly string[] = []
const opened = new Map<string, ReturnType<Explorer['visit']>>()
/** A page as it was when a test first opened it: the tests look at the same pages. */
function visit(path: string): ReturnType<Explorer['visit']> {
  const page = opened.get(path) ?? explorer.visit(path)
  opened.set(path, page)
  return page
}
beforeAll(async () => {
  explorer = await explorerOn()
  paths = await samplePaths(explorer)
})
afterAll(() => opened.clear())

const MAX_BYTES = 120_000

const metaOf = (html: string, name: string): string =>
  new RegExp(`<meta (?:property|name)="${name}" content="([^"]*)"`).exec(html)?.[1] ?? ''

test('every page of the explorer: works in both languages, has its own title and no foreign markup', async () => {
  const titles = new Map<string, string>()
  for (const path of [...paths, ...inChinese(paths)]) {
    const { response, html, title, heading, ...page } = await visit(path)
    expect([path, response.status]).toEqual([path, 200])
    const lang = path.startsWith('/zh') ? 'zh-CN' : 'en'
    expect([path, html.includes(`<html lang="${lang}">`), heading === '']).toEqual([path, true, false])
    expect(response.headers.get('content-language')).toBe(lang)
    expect([path, foreignIn({ html, title, heading, ...page })]).toEqual([path, []])
    expect([path, html.length > MAX_BYTES]).toEqual([path, false])
    // A later page of a list has the title of the list.
    if (!path.includes('?')) {
      expect([path, titles.get(title)]).toEqual([path, undefined])
      titles.set(title, path)
    }
  }
})

test('no page leads to a path that the examples of proxies keep for operators', async () => {
  const kept = ['nginx/iostlens.conf', 'nginx/path.conf'].flatMap(name =>
    [...readFileSync(join(ROOT, 'packaging', name), 'utf8').matchAll(/location = (\S+) \{ return 404; \}/g)].map(
      ([, path = '']) => path.replace(/^\/iost/, ''),
    ),
  )
  expect(new Set(kept)).toEqual(new Set(['/metrics', '/status']))
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
    const ids = (html: string) =>
      [...html.matchAll(/<h2([^>]*)>/g)].map(([, at]) => /^ id="([a-z_-]+)"$/.exec(at ?? '')?.[1])
    const named = ids(en.html)
    expect([path, ids(zh.html), new Set(named).size]).toEqual([path, named, named.length])
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
  const { response } = await visit(`/tx/${tx_hash}?raw=1`)
  const { transaction } = await explorer.call('transaction/get-transaction-detail', { tx_hash })
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(await response.json()).toEqual(transaction)

  const contract = paths.find(path => path.startsWith('/contract/Contract'))?.slice('/contract/'.length) ?? ''
  const { code } = await explorer.call('contract/get-contract-code', { contract })
  const whole = await visit(`/contract/${contract}?raw=1`)
  expect(whole.response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect([await whole.response.text(), code === '']).toEqual([code, false])
})

test('any page of a list can be opened by its number, with the same filters', async () => {
  const { html } = await visit('/account/busyhub?token=iost&from=2026-11-21&page=7')
  const [form = ''] = /<form class="to-page".*?<\/form>/s.exec(html) ?? []
  const [, last = ''] = /name="page"[^>]* max="(\d+)"/.exec(form) ?? []
  const hidden = [...form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, ...pair]) => pair)
  expect(hidden).toEqual([
    ['token', 'iost'],
    ['from', '2026-11-21'],
  ])
  const there = new URLSearchParams([...(hidden as [string, string][]), ['page', last]])
  const { response, text, html: end } = await visit(`/account/busyhub?${there}`)
  expect([response.status, Number(last) > 3]).toEqual([200, true])
  expect(text).toContain(`Page ${Number(last).toLocaleString('en')} of ${Number(last).toLocaleString('en')} ·`)
  expect(end).not.toContain('rel="next"')
  expect((await visit('/producers')).html).not.toContain('class="to-page"')
})

test('every link leads to a page: without a prefix, behind a base path, and behind a proxy that removes a prefix', async () => {
  const all = await crawl({ explorer, most: SOAK ? 12 : 2, from: [...paths, ...inChinese(paths)] })
  // All transactions of the recorded chain are of one day, and too many for a file.
  expect([brokenOf(all), filesMissing(all)]).toEqual([[], ['/transactions.csv']])
  const from = ['/', '/zh/']
  const behind = await explorerOn({ basePath: '/iost' })
  for (const options of [
    { explorer, seenAt: '/chain/v1' },
    { explorer: behind, basePath: '/iost', seenAt: '/iost' },
    { explorer: behind, basePath: '/iost', seenAt: '/proxy/iost' },
  ])
    expect(brokenOf(await crawl({ ...options, from, most: SOAK ? 12 : 1 }))).toEqual([])
})

/** The targets and names of the breadcrumbs of a page; []: the page has none. */
function crumbsOf(html: string): readonly string[] {
  const [, list = ''] = /<nav class="crumbs"[^>]*><ol>(.*?)<\/ol>/s.exec(html) ?? []
  return [...list.matchAll(/<a href="([^"]*)">([^<]*)/g)].map(([, href, name]) => `${name} ${href}`)
}

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
  expect(crumbsOf((await visit(path)).html)).toEqual([...crumbs])
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
  const { html, text } = await late.visit('/account/user_001')
  const [, iso = ''] = /Next to become available.*?datetime="([^"]*)"/s.exec(html) ?? []
  expect([Date.parse(iso) > last, Date.parse(iso) < last + later]).toEqual([true, true])
  expect(text).toContain('(past, but after the last loaded block)')
  expect((await late.visit('/zh/account/user_001')).text).toContain('（已过，但晚于最新已加载的区块）')
})

test('previews: all pages name one picture, with an absolute address and its size; browsers may keep it', async () => {
  const seen = new Set<string>()
  for (const path of [...paths, ...inChinese(paths), '/account/nosuch']) {
    const { html, title } = await visit(path)
    const [name, locale] = path.startsWith('/zh') ? ['IOST 浏览器', 'zh_CN'] : ['IOST explorer', 'en_US']
    const sizes = ['og:image:width', 'og:image:height', 'twitter:card', 'og:image:alt', 'og:site_name', 'og:locale']
    expect([path, sizes.map(each => metaOf(html, each))]).toEqual([
      ...[path, ['1200', '630', 'summary_large_image', name, name, locale]],
    ])
    if (path.includes('nosuch')) continue
    expect([path, title]).toEqual([path, expect.stringMatching(/ · IOST$|^IOST/)])
    expect([path, metaOf(html, 'og:description')]).toEqual([path, metaOf(html, 'description')])
    seen.add(metaOf(html, 'og:image'))
  }
  expect(seen.size).toBe(1)
  const { origin, pathname } = new URL([...seen][0] ?? '')
  const response = await explorer.ask(pathname)
  const png = new DataView((await response.bytes()).buffer)
  expect([origin, response.status, png.getUint32(16), png.getUint32(20)]).toEqual([
    ...['http://127.0.0.1:8080', 200, 1_200, 630],
  ])
  expect(['content-type', 'cache-control', 'content-length'].map(each => response.headers.get(each))).toEqual([
    ...['image/png', 'public, max-age=31536000, immutable', String(png.byteLength)],
  ])
  // Nothing is drawn for a single page.
  for (const path of ['/picture.png', '/account/admin/picture.png', '/token/iost/picture.png'])
    expect([path, (await explorer.ask(path)).status]).toEqual([path, 404])
  const behind = await explorerOn({ basePath: '/iost' })
  const own = new URL(metaOf((await behind.visit('/iost/token/iost')).html, 'og:image')).pathname
  expect([own, (await behind.ask(own)).status]).toEqual([`/iost${pathname}`, 200])
})

const describePage = async (path: string): Promise<string> =>
  metaOf((await visit(path)).html, 'og:description').replaceAll('&#39;', "'")

test('previews: figures in the descriptions match the API', async () => {
  const { call } = explorer
  for (const account of ['busyhub', 'admin', 'user_001', '__proto__', 'vote.iost']) {
    const { balance, frozen_balance } = await call('account/get-account-balance', { account })
    // The page shows the same sum.
    const { html } = await visit(`/account/${account}`)
    const [, total = ''] = /<dt>Total<\/dt><dd>.*?<data value="([^"]*)"/s.exec(html) ?? []
    const amounts = `${grouped(total)} iost: ${grouped(balance)} available, ${grouped(frozen_balance.total)} frozen, `
    expect(await describePage(`/account/${account}`)).toContain(`${account} on IOST holds ${amounts}`)
  }
  const token = await call('token/get-token-detail', { token: 'iost' })
  const [supply, most, holders] = ['current_supply', 'total_supply', 'holder_count'].map(name =>
    grouped(String(token[name])),
  )
  const [paid, failed] = [
    'EtsagS1FGY4f1kEZGu8zoryj8pXKSBazcHujbC4c958e',
    '4qDBRfj8UZTQWMrkuh3chkrXE31d3yh6hpoA3MvTKuaL',
  ]
  for (const [path, said] of [
    ['/token/iost', `Token iost on IOST: supply ${supply} of at most ${most}, ${holders} holders.`],
    ['/zh/token/iost', `IOST 代币 iost：供应量 ${supply}，上限 ${most}，${holders} 个持有者。`],
    ['/block/4824', 'Block 4,824 of the IOST chain: 2026-11-21 08:25:19 UTC, produced by producer000, '],
    [`/tx/${paid}`, `Success: 0.5 iost from busyhub to user_001. Transaction ${paid} of the IOST chain.`],
    [`/zh/tx/${paid}`, `成功：busyhub 向 user_001 转出 0.5 iost。IOST 交易 ${paid}。`],
    [`/tx/${failed}`, 'An action failed: by '],
  ] as const)
    expect(await describePage(path)).toStartWith(said)
})
