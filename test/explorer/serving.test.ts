import { expect, test } from 'bun:test'
import { pages } from '#explorer/pages.ts'
import { createAddressLimits } from '#gate/networks.ts'
import { serviceOn } from '../support/processes/service.ts'
import { fillFromRecording, loadedStore } from '../support/stores/loaded.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { readPage } from './read-page.ts'
import { explorerOn, HTML, listenAlone } from './served.ts'

const LOWER = '0x7c92f5fe3f67b836df744e98f2fad8e42743f9cc'
const MIXED = '0x7c92f5FE3F67B836DF744E98F2fad8e42743F9CC'
const BROWSER = { headers: { accept: HTML } }
const PAGES = pages.map(({ path }) => path.replace('{id}', '1').replace('{part}', '1')).filter(path => path !== '/')

test('explorer off: none of its routes exists, and its pages are not served', async () => {
  const { ask } = serviceOn(await loadedStore())
  const { links } = await (await explorerOn()).visit('/')
  const files = links.map(({ href }) => `/${href}`).filter(href => href.startsWith('/assets/'))
  expect(files.length).toBeGreaterThan(1)
  // The reference and the status page use the same styles.
  for (const path of files) expect([path, (await ask(path, BROWSER)).status]).toEqual([path, 200])
  for (const path of [...PAGES, ...PAGES.map(each => `/zh${each}`), '/zh', '/zh/', '/nothing']) {
    const response = await ask(path, BROWSER)
    expect([path, response.status, response.headers.get('content-type')]).toEqual([
      path,
      404,
      'application/json; charset=utf-8',
    ])
  }
  const start = await ask('/', BROWSER)
  expect([start.status, start.headers.get('location')]).toEqual([302, 'docs/en'])
})

const { visit } = await explorerOn()

const unescapeQuotes = (html: string): string => html.replaceAll('&#39;', "'").replaceAll('&#x27;', "'")

test.each([
  ['/nothing/here', 'Not found', 'This page does not exist.'],
  ['/zh/nothing', '未找到', '此页面不存在。'],
  ['/account/nobodyhere', 'Not found', "Account 'nobodyhere' does not exist at block 4851."],
  ['/zh/account/nobodyhere', '未找到', "账户 'nobodyhere' 不存在（截至区块 4851）。"],
  ['/contract/nothing.iost', 'Not found', "Contract 'nothing.iost' does not exist at block 4851."],
  [`/tx/${'1'.repeat(32)}`, 'Not found', `Transaction '${'1'.repeat(32)}' does not exist at block 4851.`],
  ['/block/99999999', 'Not found', "Block '99999999' does not exist at block 4851."],
  // An account with rewards alone is no producer.
  ['/producer/busyhub', 'Not found', 'does not exist at block 4851.'],
  // The number of an NFT, and that of a missing block, are not offered as the number of a block.
  ['/nft/nft_cats/99', 'Not found', 'does not exist at block 4851.'],
])('not found: %s is reported in its language, with the last loaded block', async (path, title, message) => {
  const { response, html, heading } = await visit(path)
  expect([response.status, heading]).toEqual([404, title])
  expect(unescapeQuotes(html)).toContain(message)
  expect(html).toContain('block/4851"')
  expect(response.headers.get('cache-control')).toBe('no-store')
  if (/99$/.test(path)) expect(html).not.toContain('Did you mean')
})

test.each([
  ['/block/abc', 'a whole number of at most 19 digits or a hash (32 bytes'],
  ['/block/-1', 'a whole number of at most 19 digits or a hash (32 bytes'],
  ['/block/99999999999999999999', 'a whole number of at most 19 digits or a hash'],
  ['/tx/zzz', 'a hash (32 bytes'],
  ['/account/NOT A NAME', 'an account name (5 to 11 characters'],
  ['/account/NOT A NAME?page=2', 'an account name (5 to 11 characters'],
  ['/contract/x y', 'a contract id'],
  ['/token/A B', 'a token name'],
  ['/producer/A B', 'an account name'],
])('not found: %s cannot exist', async (path, rule) => {
  const { response, html, heading } = await visit(encodeURI(path))
  expect([response.status, heading]).toEqual([404, 'Not found'])
  const [, name = ''] = /^\/[a-z]+\/([^?]*)/.exec(path) ?? []
  expect(unescapeQuotes(html)).toContain(`'${name}' cannot exist: it would have to be ${rule}`)
  const zh = await visit(encodeURI(`/zh${path}`))
  expect([zh.response.status, zh.heading, zh.html.includes('不可能存在：须为')]).toEqual([404, '未找到', true])
})

test.each(['/account/busyhub?page=x', '/account/busyhub?token=A B', '/blocks?page=-1'])(
  'bad request: %s has an invalid parameter',
  async path => {
    const { response, heading } = await visit(encodeURI(path))
    expect([path, response.status, heading]).toEqual([path, 400, 'Invalid link'])
  },
)

test.each([
  ['/account/busyhubb', '../account/busyhub'],
  ['/account/BUSYHUB', '../account/busyhub'],
  ['/nothing/busyhu', '../account/busyhub'],
  ['/contract/tokn.iost', '../contract/token.iost'],
  ['/contract/tokn.iost/storage', '../../contract/token.iost'],
  ['/account/busyhubb/iost', '../../account/busyhub'],
  ['/account/busyhub/iostt', '../../token/iost'],
  ['/account/vote.iost/iostt', '../../token/iost'],
  ['/account/admin?counterparty=busyhubb', '../account/busyhub'],
  ['/account/admin?token=iostt', '../token/iost'],
  ['/account/admin?func_name=tokn.iost/transfer', '../contract/token.iost'],
  ['/producer/busyhub', '../account/busyhub'],
])('not found: %s offers %s', async (path, near) => {
  const { response, links, text } = await visit(path)
  expect(response.status).toBe(404)
  expect(text).not.toContain('Looked for: admin')
  expect(links.map(({ href }) => href)).toContain(near)
})

test('not found: programs get the answer of the API, and so do all requests below /api', async () => {
  const { ask } = await explorerOn()
  for (const init of [{}, { headers: { accept: 'application/json' } }, { headers: { accept: '*/*' } }]) {
    const response = await ask('/nothing', init)
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8'])
  }
  const response = await ask('/api/base/nothing', BROWSER)
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
})

test('not found: hostile paths are shown, and have no effect', async () => {
  const hostile = ['/%3Cscript%3Ebad()%3C/script%3E', '/javascript:bad()', '//elsewhere.example/x']
  for (const path of [...hostile, '/%E0%A4%A', '/a%00b']) {
    const { response, parts, links, inline } = await visit(path)
    expect([path, response.status, inline.trim(), parts.has('img')]).toEqual([path, 404, '', false])
    const outside = links
      .map(({ href }) => new URL(href, `http://127.0.0.1:8080${path}`))
      .filter(({ origin }) => origin !== 'http://127.0.0.1:8080')
    expect([path, outside]).toEqual([path, []])
  }
})

test('loading: a page of something that may still be loaded shows the progress of the service', async () => {
  const store = await loadedStore()
  const loading = {
    ...store,
    read: ((work, options) =>
      store.read(view => work({ ...view, at: { ...view.at, lib: 900_000 } } as never), options)) as typeof store.read,
  }
  const { ask } = serviceOn(loading, { explorer: true })
  const response = await ask('/account/nobodyhere', BROWSER)
  const { heading, text } = await readPage(await response.text())
  expect([response.status, heading]).toEqual([503, 'Not loaded yet'])
  expect(text).toContain('is not available yet: loaded up to block 4851 of 900000.')
  // The page states the progress once.
  expect(text.replaceAll(',', '').split('900000').length).toBe(2)
  for (const path of ['/', '/statistics', '/statistics/transactions', '/producers', '/account/busyhub'])
    expect([path, (await ask(`${path}?lang=en`, BROWSER)).status]).toEqual([path, 200])
})

const lastBlockIn = (text: string, gap: string): string | undefined =>
  /(?:The last loaded block is|loaded up to block) [^.]*\.|最新的已加载区块为[^。]*。/.exec(
    text.replaceAll(/\s+/g, gap).replaceAll(',', ''),
  )?.[0]

test.each([
  ['', 60, 'The last loaded block is 60.'],
  ['/zh', 60, '最新的已加载区块为60。'],
  ['', 62, 'The last loaded block is 60.'],
  ['', 4_851, 'loaded up to block 60 of 4851.'],
])(
  'search and not found: say the same of an absent thing; %s of %d blocks 60 are loaded',
  async (prefix, lib, said) => {
    const { store, destroy } = await temporarySqlite()
    await fillFromRecording(store, { to: 60, lib })
    const loading = await explorerOn({}, store)
    for (const path of ['block/99999999', 'account/nobody00', 'token/nothing', `tx/${'2'.repeat(44)}`])
      for (const each of [`/${path}`, `/search?text=${path.split('/').at(-1)}`]) {
        const { text } = await loading.visit(`${prefix}${each}`)
        expect([each, lastBlockIn(text, prefix === '' ? ' ' : '')]).toEqual([each, said])
      }
    await destroy()
  },
)

test.each([undefined, 3_000, 4_851])('not found: a node whose last block is %p changes no word', async libBlock => {
  const heard = () => (libBlock === undefined ? undefined : { libBlock })
  const node = { lastInfo: heard, reportAgeMs: () => 0, whyUnfit: () => undefined } as never
  const own = await explorerOn({ node })
  for (const [path, forms] of [
    ['/search?text=99999999', 'The search takes names and their beginnings'],
    ['/zh/search?text=99999999', '可搜索名称或其开头'],
    ['/account/nobodyhere', 'The last loaded block is 4851.'],
    ['/block/99999999', 'The search takes names and their beginnings'],
    ['/zh/block/99999999', '可搜索名称或其开头'],
  ] as const)
    expect((await own.visit(path)).text.replaceAll(/\s+/g, ' ')).toContain(forms)
})

test('an empty store: each page and the API say that nothing is loaded and what helps, without naming the store', async () => {
  const { store, destroy } = await temporarySqlite()
  await store.create()
  const { ask, key, ...empty } = await explorerOn({}, store)
  for (const path of ['/', '/blocks', '/account/admin']) {
    const { response, text } = await empty.visit(`${path}?lang=en`)
    expect([path, response.status, text.includes('Nothing is loaded yet. Load with')]).toEqual([path, 503, true])
    expect(text).not.toContain('sqlite')
  }
  expect((await empty.visit('/zh/blocks')).text).toContain('尚未加载任何数据。请用 iostlens load')
  const answer = await ask('/api/?module=block&action=get-latest-block', { headers: { 'x-api-key': key } })
  expect(await answer.json()).toMatchObject({
    code: 5030,
    message: expect.stringMatching(/^Nothing is loaded yet\. Load/),
  })
  await destroy()
})

test('home: names the head block only if a node reported one', async () => {
  const home = async (headBlock: number | undefined) => {
    const heard = () => (headBlock === undefined ? undefined : { libBlock: 4_851, headBlock })
    const node = { lastInfo: heard, reportAgeMs: () => 0, whyUnfit: () => undefined } as never
    const { html } = await (await explorerOn({ node })).visit('/?lang=en')
    return /[\d,]+ blocks? ahead/.exec(html)?.[0]
  }
  for (const [head, said] of [
    [undefined, undefined],
    [4_852, '1 block ahead'],
    [4_900, '49 blocks ahead'],
    [9_851, '5,000 blocks ahead'],
  ] as const)
    expect([head, await home(head)]).toEqual([head, said])
})

test.each([
  ['/iost/blocks/', '/iost/blocks'],
  ['/iost/zh/account/admin/?page=2', '/iost/zh/account/admin?page=2'],
  // A page number after the last page.
  ['/iost/blocks?page=999999', '/iost/blocks?page=195'],
  ['/iost/zh/blocks?page=999999', '/iost/zh/blocks?page=195'],
  ['/iost/producers?page=7', '/iost/producers'],
  ['/iost/token/iost?holders=1&page=99', '/iost/token/iost?holders=1&page=8'],
  ...['/account/', '/zh/account/', '/producer/'].map(each => [`/iost${each}${MIXED}`, `/iost${each}${LOWER}`] as const),
  [`/iost/account/${MIXED}?token=iost&page=2`, `/iost/account/${LOWER}?token=iost&page=2`],
  [`/iost/account/${MIXED}/iost`, `/iost/account/${LOWER}/iost`],
])('redirects: %s leads to %s', async (path, to) => {
  const { ask } = await explorerOn({ basePath: '/iost' })
  const response = await ask(path, BROWSER)
  const location = new URL(response.headers.get('location') ?? '', `http://127.0.0.1:8080${path}`)
  expect([response.status, `${location.pathname}${location.search}`]).toEqual([302, to])
})

test('addresses: files of one in mixed case are those of the address', async () => {
  const { ask } = await explorerOn()
  for (const name of ['records.csv', 'sub-accounts.csv']) {
    const [own, other] = [await ask(`/account/${LOWER}/${name}`), await ask(`/account/${MIXED}/${name}`)]
    expect([name, other.status]).toEqual([name, own.status])
    expect(await other.bytes()).toEqual(await own.bytes())
  }
})

test('lists: a page of searched rows that cannot be opened by its number or row says so in words of the page', async () => {
  for (const [query, first] of [
    ['counterparty=user_009&page=2', 'account/busyhub?counterparty=user_009'],
    ['counterparty=user_009&after=xx', 'account/busyhub?counterparty=user_009'],
    ['after=xx&page=3', 'account/busyhub'],
  ] as const)
    for (const [prefix, said, word] of [
      ['', 'Rows that filters find have no page numbers', /&#x27;|head=1|Parameter/],
      ['/zh', '按条件查到的记录没有页码', /&#x27;|head=1|参数/],
    ] as const) {
      const { response, text, links } = await visit(`${prefix}/account/busyhub?${query}`)
      expect([query, response.status, text]).toEqual([query, 400, expect.stringContaining(said)])
      expect(text).not.toMatch(word)
      expect(links.map(({ href }) => href.replace(/^(?:\.\.\/)+(?:zh\/)?/, ''))).toContain(first)
    }
})

test('visits: a network address that opened too many pages gets none, and is told when to come again', async () => {
  const addresses = { ...createAddressLimits({ elapsed: () => 0 }), visit: () => 1_000 }
  const service = await explorerOn({ addresses, trustedProxies: [] })
  await using own = listenAlone(service)
  const refused = await fetch(`${own.url}/nothing`, BROWSER)
  const { heading } = await readPage(await refused.text())
  expect([refused.status, heading, refused.headers.get('retry-after')]).toEqual([429, 'Too many pages at once', '1'])
})
