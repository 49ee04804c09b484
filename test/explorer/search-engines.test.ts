import { expect, test } from 'bun:test'
import { serviceOn } from '../support/processes/service.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { explorerOn, HTML } from './served.ts'

type Told = { readonly canonical: string; readonly others: readonly string[]; readonly robots: string }

function toldBy(html: string): Told {
  const all = (pattern: RegExp) => [...html.matchAll(pattern)].map(([, found = '']) => found)
  return {
    canonical: all(/<link rel="canonical" href="([^"]*)"/g).join(),
    others: all(/<link rel="alternate" hreflang="[^"]*" href="([^"]*)"/g),
    robots: all(/<meta name="robots" content="([^"]*)"/g).join(),
  }
}

const told = async (path: string, over: object = {}, headers: Readonly<Record<string, string>> = {}) =>
  toldBy((await (await explorerOn(over)).visit(path, headers)).html)

test('search engines: the address of a page is absolute if it is known, otherwise relative', async () => {
  const at = (root: string) => ({
    canonical: `${root}zh/token/iost`,
    others: [`${root}token/iost`, `${root}zh/token/iost`],
    robots: '',
  })
  expect(await told('/zh/token/iost')).toEqual(at('http://127.0.0.1:8080/'))
  expect(await told('/iost/zh/token/iost', { basePath: '/iost' })).toEqual(at('http://127.0.0.1:8080/iost/'))
  const publicUrl = 'https://iost.example/behind/'
  expect(await told('/zh/token/iost', { publicUrl })).toEqual(at(publicUrl))
  expect(await told('/zh/token/iost', {}, { 'X-Forwarded-Proto': 'https' })).toEqual(at('../../'))
})

test('search engines: a page has one canonical address for all spellings of its path', async () => {
  const { call, visit } = await explorerOn()
  const contract = 'Contract5aHQiyi3zX8bwRWao4fMvxFi5UabjPPaqhUJ8eyUb9RW'
  const hash = contract.replace('Contract', '')
  const { block } = await call('block/get-block-detail', { number: '7' })
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
    const { canonical, others } = toldBy(html)
    const root = 'http://127.0.0.1:8080'
    expect([path, response.status, canonical, others]).toEqual([
      ...[path, 200, `${root}/zh${only}`],
      [`${root}${only}`, `${root}/zh${only}`],
    ])
    expect([path, html.match(/og:url" content="([^"]*)"/)?.[1]]).toEqual([path, `${root}/zh${only}`])
  }
})

test('search engines: later pages, searches and chosen periods have the noindex rule', async () => {
  for (const path of ['/', '/blocks', '/wealth', '/statistics', '/statistics/votes', '/account/busyhub'])
    expect([path, (await told(path)).robots]).toEqual([path, ''])
  for (const path of ['/blocks?page=2', '/token/iost?holders=1', '/search?text=b', '/statistics?end_date=2026-11-20'])
    expect([path, (await told(path)).robots]).toEqual([path, 'noindex'])
})

const contentsOf = (html: string) => ({
  parts: [...html.matchAll(/<h[23][^>]*>([^<]*)</g)].map(([, title]) => title),
  plots: html.split('<figure class="plot').length - 1,
})

/** Tracking parameters, empty form fields, and the first page of a list. */
const WITHOUT_MEANING = [
  'utm_source=news&utm_medium=mail&fbclid=IwAR0&lang=en',
  'page=&direction=&counterparty=&token=&func_name=&from=&to=&start_block=&end_block=&start_date=&end_date=',
  'page=1',
]

test('search engines: parameters without a meaning for a page do not change it, neither for them nor for visitors', async () => {
  const { visit } = await explorerOn()
  for (const path of [
    ...['/account/busyhub', '/account/user_001/iost', '/token/iost', '/nft/nft_cats', '/nft/nft_cats/8'],
    ...['/contract/token.iost', '/contract/token.iost/storage', '/producer/prod_01', '/block/4851'],
    ...['/blocks', '/producers', '/wealth', '/statistics', '/statistics/votes'],
  ]) {
    const whole = await visit(path)
    for (const query of WITHOUT_MEANING) {
      const { html, response } = await visit(`${path}?${query}`)
      expect([path, query, response.status]).toEqual([path, query, 200])
      expect([path, query, toldBy(html), contentsOf(html)]).toEqual([
        ...[path, query],
        ...[toldBy(whole.html), contentsOf(whole.html)],
      ])
    }
  }
})

test('search engines: the sitemap is bounded, its addresses are pages, and robots.txt names it', async () => {
  const publicUrl = 'https://iost.example/'
  const { ask } = serviceOn(await loadedStore(), { explorer: true, publicUrl })
  const answer = await ask('/sitemap.xml')
  expect(answer.headers.get('content-type')).toBe('application/xml; charset=utf-8')
  const text = await answer.text()
  const found = [...text.matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, url = '']) => url)
  expect(found.length).toBeGreaterThan(200)
  expect(found.length).toBeLessThanOrEqual(2 * (8 + 4 * 100))
  expect(new Set(found).size).toBe(found.length)
  for (const [at, url] of found.entries()) {
    expect(url).toStartWith(publicUrl)
    if (at % 20 !== 0) continue
    const path = `/${url.slice(publicUrl.length).replaceAll('&apos;', "'").replaceAll('&amp;', '&')}`
    expect([path, (await ask(path, { headers: { accept: HTML } })).status]).toEqual([path, 200])
  }
  const robots = await (await ask('/robots.txt')).text()
  expect(robots).toContain('Sitemap: https://iost.example/sitemap.xml\n')
  expect(robots).toContain('Disallow: /zh/search\n')
  expect(robots).toContain('Disallow: /live\n')
  for (const path of ['/sitemap.xml', '/llms.txt', '/openapi.json'])
    expect([path, /\blive\b/.test(await (await ask(path)).text())]).toEqual([path, false])
  expect(robots).not.toContain('Disallow: /\n')
})
