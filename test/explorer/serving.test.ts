import { expect, setDefaultTimeout, test } from 'bun:test'
import { pages } from '#explorer/pages.ts'
import { createAddressLimits } from '#gate/networks.ts'
import { serviceOn } from '../support/processes/service.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { readPage } from './read-page.ts'
import { explorerOn, HTML } from './served.ts'

// The first test may have to build the file of the whole chain. A test that hangs still ends.
setDefaultTimeout(600_000)

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

test.each([
  ['/nothing/here', 'Not found', 'This page does not exist.'],
  ['/zh/nothing', '未找到', '此页面不存在。'],
  ['/account/nobodyhere', 'Not found', "Account 'nobodyhere' does not exist at block 4851."],
  ['/zh/account/nobodyhere', '未找到', "账户 'nobodyhere' 不存在（截至区块 4851）。"],
  ['/contract/nothing.iost', 'Not found', "Contract 'nothing.iost' does not exist at block 4851."],
  [`/tx/${'1'.repeat(32)}`, 'Not found', `Transaction '${'1'.repeat(32)}' does not exist at block 4851.`],
  ['/block/99999999', 'Not found', "Block '99999999' does not exist at block 4851."],
])(
  'not found: %s is reported in its language, with the last loaded block of the service',
  async (path, title, message) => {
    const { response, html, heading } = await (await explorerOn()).visit(path)
    expect([response.status, heading]).toEqual([404, title])
    expect(html.replaceAll('&#39;', "'").replaceAll('&#x27;', "'")).toContain(message)
    expect(html).toContain('block/4851"')
    expect(response.headers.get('cache-control')).toBe('no-store')
  },
)

test.each([
  ['/block/abc', 'block', 'a whole number of at most 19 digits or a hash (32 bytes'],
  ['/block/-1', 'block', 'a whole number of at most 19 digits or a hash (32 bytes'],
  ['/block/99999999999999999999', 'block', 'a whole number of at most 19 digits or a hash'],
  ['/tx/zzz', 'transaction', 'a hash (32 bytes'],
  ['/account/NOT A NAME', 'account', 'an account name (5 to 11 characters'],
  ['/account/NOT A NAME?page=2', 'account', 'an account name (5 to 11 characters'],
  ['/contract/x y', 'contract', 'a contract id'],
  ['/token/A B', 'token', 'a token name'],
  ['/producer/A B', 'producer', 'an account name'],
])('not found: %s cannot be the name of a %s', async (path, _, rule) => {
  const { visit } = await explorerOn()
  const { response, html, heading } = await visit(encodeURI(path))
  expect([response.status, heading]).toEqual([404, 'Not found'])
  const [, name = ''] = /^\/[a-z]+\/([^?]*)/.exec(path) ?? []
  expect(html.replaceAll('&#39;', "'").replaceAll('&#x27;', "'")).toContain(
    `'${name}' cannot exist: it would have to be ${rule}`,
  )
  const zh = await visit(encodeURI(`/zh${path}`))
  expect([zh.response.status, zh.heading, zh.html.includes('不可能存在：须为')]).toEqual([404, '未找到', true])
})

test.each(['/account/busyhub?page=x', '/account/busyhub?token=A B', '/blocks?page=-1'])(
  'bad request: %s has an invalid parameter',
  async path => {
    const { response, heading } = await (await explorerOn()).visit(encodeURI(path))
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
  const { response, links, text } = await (await explorerOn()).visit(path)
  expect(response.status).toBe(404)
  expect(text).not.toContain('Looked for: admin')
  expect(links.map(({ href }) => href)).toContain(near)
})

test('not found: the number of an NFT is not offered as the number of a block', async () => {
  const { response, text } = await (await explorerOn()).visit('/nft/nft_cats/99')
  expect([response.status, text.includes('Did you mean')]).toEqual([404, false])
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
  const { visit } = await explorerOn()
  for (const path of [
    '/%3Cscript%3Ebad()%3C/script%3E',
    '/javascript:bad()',
    '//elsewhere.example/x',
    '/%E0%A4%A',
    '/a%00b',
  ]) {
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

test.each([
  ['not known', undefined, 'The last loaded block is 4851.'],
  ['not known by a node that is far behind', 3_000, 'The last loaded block is 4851.'],
  ['loaded', 4_851, 'The last loaded block is 4851.'],
])(
  'not found: names the last loaded block, without a word on the state of the service; the last one is %s',
  async (_, libBlock, said) => {
    const heard = () => (libBlock === undefined ? undefined : { libBlock })
    const node = { lastInfo: heard, reportAgeMs: () => 0, whyUnfit: () => undefined } as never
    const { ask } = serviceOn(await loadedStore(), { explorer: true, node })
    const response = await ask('/account/nobodyhere', BROWSER)
    const text = (await response.text()).replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ')
    expect([response.status, text]).toEqual([404, expect.stringContaining(said)])
  },
)

test('search and not found: say the same of a thing that does not exist', async () => {
  const { ask } = serviceOn(await loadedStore(), { explorer: true })
  for (const [prefix, last, forms] of [
    ['', 'The last loaded block is 4851.', 'The search takes names and their beginnings'],
    ['/zh', '最新的已加载区块为4851。', '可搜索名称或其开头'],
  ])
    for (const path of ['/search?text=99999999', '/block/99999999', '/account/nobodyhere']) {
      const text = (await (await ask(`${prefix}${path}`, BROWSER)).text())
        .replaceAll(/<[^>]*>/g, '')
        .replaceAll(',', '')
      expect([path, text]).toEqual([path, expect.stringContaining(forms ?? '')])
      expect([path, text.replaceAll(/\s+/g, prefix === '' ? ' ' : '')]).toEqual([
        path,
        expect.stringContaining(last ?? ''),
      ])
    }
})

test('home: names the head block only if a node reported one', async () => {
  const home = async (headBlock: number | undefined) => {
    const heard = () => (headBlock === undefined ? undefined : { libBlock: 4_851, headBlock })
    const node = { lastInfo: heard, reportAgeMs: () => 0, whyUnfit: () => undefined } as never
    const { ask } = serviceOn(await loadedStore(), { explorer: true, node })
    return await (await ask('/?lang=en', BROWSER)).text()
  }
  expect(await home(undefined)).not.toContain('ahead')
  expect(await home(4_852)).toContain('1 block ahead')
  expect(await home(4_900)).toContain('49 blocks ahead')
  expect(await home(9_851)).toContain('5,000 blocks ahead')
})

test('a trailing slash of an address redirects to the page without it', async () => {
  const { ask } = await explorerOn({ basePath: '/iost' })
  for (const [path, to] of [
    ['/iost/blocks/', '/iost/blocks'],
    ['/iost/zh/account/admin/?page=2', '/iost/zh/account/admin?page=2'],
  ] as const) {
    const response = await ask(path, BROWSER)
    const location = new URL(response.headers.get('location') ?? '', `http://127.0.0.1:8080${path}`)
    expect([response.status, `${location.pathname}${location.search}`]).toEqual([302, to])
  }
})

test('visits: a network address may open a limited number of pages per minute, and others are not affected', async () => {
  const now = Date.UTC(2026, 10, 21)
  const addresses = createAddressLimits({ elapsed: () => now })
  const seen: string[] = []
  const service = await explorerOn({
    now: () => now,
    addresses: {
      ...addresses,
      visit: network => {
        seen.push(network)
        return addresses.visit(network)
      },
    },
    trustedProxies: [],
  })
  service.app.listen({ port: 0, hostname: '127.0.0.1' })
  const visit = async () => fetch(`http://127.0.0.1:${service.app.server?.port}/nothing`, BROWSER)
  try {
    expect((await visit()).status).toBe(404)
    const [network = ''] = seen
    // The network address as the limit counts it.
    let opened = 1
    while (addresses.visit(network) === 0) opened += 1
    expect(opened).toBe(600)
    const refused = await visit()
    const { heading } = await readPage(await refused.text())
    expect([refused.status, heading, refused.headers.get('retry-after')]).toEqual([429, 'Too many pages at once', '1'])
    expect(addresses.visit(`${network}.another`)).toBe(0)
  } finally {
    await service.app.stop(true)
  }
})
