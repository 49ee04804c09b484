import { expect, test } from 'bun:test'
import { pages } from '#explorer/pages.ts'
import { createAddressLimits } from '#gate/networks.ts'
import { notFound, spokenNode } from '../support/nodes/spoken-node.ts'
import { serviceOn } from '../support/processes/service.ts'
import { fillFromRecording, loadedStore } from '../support/stores/loaded.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { readPage } from './read-page.ts'
import { explorerOn, HTML, listenAlone } from './served.ts'

const LOWER = '0x7c92f5fe3f67b836df744e98f2fad8e42743f9cc'
const MIXED = '0x7c92f5FE3F67B836DF744E98F2fad8e42743F9CC'
const BROWSER = { headers: { accept: HTML } }
const ORIGIN = 'http://127.0.0.1:8080'
const JSON_TYPE = 'application/json; charset=utf-8'
const PAGES = pages.map(({ path }) => path.replace('{id}', '1').replace('{part}', '1')).filter(path => path !== '/')

test('explorer off: none of its routes exists, and its pages are not served', async () => {
  const { ask } = serviceOn(await loadedStore())
  const { links } = await visit('/')
  const files = links.map(({ href }) => `/${href}`).filter(href => href.startsWith('/assets/'))
  expect(files.length).toBeGreaterThan(1)
  // The reference and the status page use the same styles.
  for (const path of files) expect([path, (await ask(path, BROWSER)).status]).toEqual([path, 200])
  for (const path of [...PAGES, ...PAGES.map(each => `/zh${each}`), '/zh', '/zh/', '/nothing']) {
    const { status, headers } = await ask(path, BROWSER)
    expect([path, status, headers.get('content-type')]).toEqual([path, 404, JSON_TYPE])
  }
  const start = await ask('/', BROWSER)
  expect([start.status, start.headers.get('location')]).toEqual([302, 'docs/en'])
})

const explorer = await explorerOn()
const { visit, visitBoth } = explorer

const readText = async (path: string): Promise<string> => (await visit(path)).text.replaceAll(/\s+/g, ' ')

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
  const { response, html, heading, text } = await visit(path)
  expect([response.status, heading]).toEqual([404, title])
  expect(text).toContain(message)
  expect(html).toContain('block/4851"')
  expect(response.headers.get('cache-control')).toBe('no-store')
  if (/99$/.test(path)) expect(html).not.toContain('Did you mean')
})

test.each([
  ['/block/abc', 'a whole number of at most 19 digits or a hash (32 bytes'],
  ['/block/-1', 'a whole number of at most 19 digits or a hash (32 bytes'],
  ['/block/99999999999999999999', 'a whole number of at most 19 digits or a hash'],
  ['/tx/zzz', 'a hash (32 bytes'],
  ['/account/NOT A NAME?page=2', 'an account name (5 to 11 characters'],
  ['/contract/x y', 'a contract id'],
  ['/token/A B', 'a token name'],
  ['/producer/A B', 'an account name'],
])('not found: %s cannot exist', async (path, rule) => {
  const [en, zh] = await visitBoth(encodeURI(path))
  expect([en.response.status, en.heading, zh.response.status, zh.heading]).toEqual([404, 'Not found', 404, '未找到'])
  const [, name = ''] = /^\/[a-z]+\/([^?]*)/.exec(path) ?? []
  expect(en.text).toContain(`'${name}' cannot exist: it would have to be ${rule}`)
  expect(zh.text).toContain('不可能存在：须为')
})

test('bad request: a link with an invalid parameter', async () => {
  for (const path of ['/account/busyhub?page=x', '/account/busyhub?token=A B', '/blocks?page=-1']) {
    const { response, heading } = await visit(encodeURI(path))
    expect([path, response.status, heading]).toEqual([path, 400, 'Invalid link'])
  }
})

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
  for (const [path, init] of [
    ['/nothing', {}],
    ['/nothing', { headers: { accept: 'application/json' } }],
    ['/nothing', { headers: { accept: '*/*' } }],
    ['/api/base/nothing', BROWSER],
  ] as const) {
    const { status, headers } = await explorer.ask(path, init)
    expect([path, status, headers.get('content-type')]).toEqual([path, path === '/nothing' ? 404 : 401, JSON_TYPE])
  }
})

test('not found: hostile paths are shown, and have no effect', async () => {
  const hostile = ['/%3Cscript%3Ebad()%3C/script%3E', '/javascript:bad()', '//elsewhere.example/x']
  for (const path of [...hostile, '/%E0%A4%A', '/a%00b']) {
    const { response, parts, links, inline } = await visit(path)
    expect([path, response.status, inline.trim(), parts.has('img')]).toEqual([path, 404, '', false])
    const outside = links.filter(({ href }) => new URL(href, ORIGIN + path).origin !== ORIGIN)
    expect([path, outside]).toEqual([path, []])
  }
})

test('loading: a page of something that may still be loaded shows the progress of the service', async () => {
  const store = await loadedStore()
  const read: typeof store.read = (work, options) =>
    store.read(view => work({ ...view, at: { ...view.at, lib: 900_000 } } as never), options)
  const own = await explorerOn({}, { ...store, read })
  const { response, heading, text } = await own.visit('/account/nobodyhere')
  expect([response.status, heading]).toEqual([503, 'Not loaded yet'])
  expect(text).toContain('is not available yet: loaded up to block 4851 of 900000.')
  // The page states the progress once.
  expect(text.replaceAll(',', '').split('900000').length).toBe(2)
  for (const path of ['/', '/statistics', '/statistics/transactions', '/producers', '/account/busyhub'])
    expect([path, (await own.visit(`${path}?lang=en`)).response.status]).toEqual([path, 200])
})

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
        const text = (await loading.visit(`${prefix}${each}`)).text.replaceAll(/\s+/g, prefix === '' ? ' ' : '')
        const told = /(?:The last loaded block is|loaded up to block) [^.]*\.|最新的已加载区块为[^。]*。/.exec(text)
        expect([each, told?.[0].replaceAll(',', '')]).toEqual([each, said])
      }
    await destroy()
  },
)

/** A node that reported these blocks; undefined: none. */
const nodeAt = (info: object | undefined) =>
  ({ lastInfo: () => info, reportAgeMs: () => 0, whyUnfit: () => undefined }) as never

test.each([undefined, 3_000, 4_851])('not found: a node whose last block is %p changes no word', async libBlock => {
  const node = spokenNode(new Proxy({}, { get: () => [notFound('block')] }), { libBlock: libBlock ?? 0 })
  const own = await explorerOn({ node: libBlock === undefined ? { ...node, lastInfo: () => undefined } : node })
  for (const path of ['/search?text=99999999', '/block/99999999', '/account/nobodyhere']) {
    const alone = await visitBoth(path)
    expect((await own.visitBoth(path)).map(({ text }) => text)).toEqual(alone.map(({ text }) => text))
  }
  expect(await readText('/block/99999999')).toContain('The search takes names and their beginnings')
  expect((await visit('/zh/search?text=99999999')).text).toContain('可搜索名称或其开头')
})

test('an empty store: each page and the API say that nothing is loaded and what helps, without naming the store', async () => {
  const { store, destroy } = await temporarySqlite()
  await store.create()
  const empty = await explorerOn({}, store)
  for (const [path, said] of [
    ...['/?lang=en', '/blocks', '/account/admin'].map(each => [each, 'Nothing is loaded yet. Load with'] as const),
    ['/zh/blocks', '尚未加载任何数据。请用 iostlens load'],
  ] as const) {
    const { response, text } = await empty.visit(path)
    expect([path, response.status, text]).toEqual([path, 503, expect.stringContaining(said)])
    expect(text).not.toContain('sqlite')
  }
  await expect(empty.call('block/get-latest-block')).rejects.toThrow(
    '"code":5030,"message":"Nothing is loaded yet. Load',
  )
  await destroy()
})

test('home: names the head block only if a node reported one', async () => {
  for (const [headBlock, said] of [
    [undefined, undefined],
    [4_852, '1 block ahead'],
    [9_851, '5,000 blocks ahead'],
  ] as const) {
    const own = await explorerOn({ node: nodeAt(headBlock && { libBlock: 4_851, headBlock }) })
    const { html } = await own.visit('/?lang=en')
    expect([headBlock, /[\d,]+ blocks? ahead/.exec(html)?.[0]]).toEqual([headBlock, said])
  }
})

const behind = await explorerOn({ basePath: '/iost' })

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
  const { response } = await behind.visit(path)
  const { href } = new URL(response.headers.get('location') ?? '', ORIGIN + path)
  expect([response.status, href]).toEqual([302, ORIGIN + to])
})

test('addresses: files of one in mixed case are those of the address', async () => {
  for (const name of ['records.csv', 'sub-accounts.csv']) {
    const [own, other] = await Promise.all([LOWER, MIXED].map(each => explorer.ask(`/account/${each}/${name}`)))
    expect([name, other?.status, await other?.text()]).toEqual([name, own?.status, await own?.text()])
  }
})

test('lists: a page of searched rows that cannot be opened by its number or row says so in words of the page', async () => {
  for (const [query, first] of [
    ['counterparty=user_009&page=2', 'account/busyhub?counterparty=user_009'],
    ['counterparty=user_009&after=xx', 'account/busyhub?counterparty=user_009'],
    ['after=xx&page=3', 'account/busyhub'],
  ] as const)
    for (const [prefix, said, word] of [
      ['', 'Rows that filters find have no page numbers', /'|head=1|Parameter/],
      ['/zh', '按条件查到的记录没有页码', /'|head=1|参数/],
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

test.each([
  ['/wealth', 'Share of circulating supply'],
  ['/statistics', 'IOST moved, with issued and destroyed'],
  ['/zh/statistics/iost_moved', 'IOST 变动总额（含增发与销毁）'],
  ['/token/iost', 'Available balances by share of the supply'],
  // Bars say whether they show the free or the used part.
  ['/account/busyhub', /Gas left.*% left.*RAM used \(bytes\).*% used/],
  ...['buy', 'sell'].map(way => [`/statistics/ram_${way}_price`, 'price per byte (IOST)'] as const),
  ...['buy', 'sell'].map(way => [`/zh/statistics/ram_${way}_price`, /每字节 RAM [买卖][入出]价（IOST）/] as const),
  // Days after the last block are not described as days without blocks.
  ...['statistics', 'statistics/votes'].flatMap(
    page =>
      [
        [`/${page}?start_date=2026-11-22&end_date=2026-11-25`, 'No block up to 4851 is of these days.'],
        [`/zh/${page}?start_date=2026-11-22&end_date=2026-11-25`, '截至区块 4851，这些日期没有区块。'],
      ] as const,
  ),
] as const)('words: %s says %s', async (path, said) => {
  expect(await readText(path)).toMatch(said)
})

test('words: the total of an account names the gas pledge that the rich list leaves out', async () => {
  const wealth = await explorer.list('base/get-wealth-list', { size: '20' })
  let pledged = 0
  for (const { account, balance } of wealth) {
    const { html, text } = await visit(`/account/${account}`)
    expect([account, html.includes(`value="${balance}"`)]).toEqual([account, true])
    pledged += Number(text.includes('without the gas pledge'))
  }
  expect(pledged).toBeGreaterThan(0)
})

test('words: a truncated list with a file on its page names the file, not the API', async () => {
  const keyless = await explorerOn({ isKeyless: true })
  const { total } = await keyless.call('account/get-subaccount-list', { account: 'admin' })
  const [en, zh] = await keyless.visitBoth('/account/admin')
  const whole = new RegExp(`The first \\d+ of ${total.toLocaleString('en')}\\. The file above has all of them\\.`)
  expect([en.text, zh.text]).toEqual([expect.stringMatching(whole), expect.stringContaining('上方的文件包含全部。')])
})

test("words: errors name wrong values by the labels of the page's form", async () => {
  for (const [path, en, zh] of [
    ['/account/busyhub?from=x', "“From day (UTC)” is 'x'; it must be a UTC day", "“起始日期（UTC）”的值为 'x'；"],
    [
      '/token/iost?from=2026-11-22&to=2026-11-20',
      '“From day (UTC)” is 2026-11-22 and “To day (UTC)” is 2026-11-20; the start must not be after the end.',
      '“起始日期（UTC）”的值为 2026-11-22，“结束日期（UTC）”的值为 2026-11-20；起点不能晚于终点。',
    ],
    [
      '/statistics/votes?start_date=2000-01-01&end_date=2020-11-20',
      'at most 366 are allowed: split it with “From” and “To”.',
      '区间最多 366 天，请用“起”和“止”分段查询。',
    ],
    ['/account/busyhub?counterparty=A!', "“Counterparty” is 'A!'; it must be an account name", "“对方”的值为 'A!'；"],
    ['/account/busyhub?token=iost,UP', "Value 2 of “Token” is 'UP'; it must be", "“代币”的第 2 个值为 'UP'；"],
    ['/contract/token.iost?action_name=a.b', "“Action” is 'a.b'; it must be", "“方法”的值为 'a.b'；取值须为"],
    ['/token/iost/movements.csv?func_name=x', "“Action” is 'x'; it must be", "“方法”的值为 'x'；取值须为"],
    ['/account/busyhub/records.csv?to=x', "“To day (UTC)” is 'x'; it must be", "“结束日期（UTC）”的值为 'x'；"],
  ] as const) {
    expect([path, await readText(path)]).toEqual([path, expect.stringContaining(en)])
    expect([path, await readText(`/zh${path}`)]).toEqual([path, expect.stringContaining(zh)])
  }
})
