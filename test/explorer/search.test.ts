import { expect, test } from 'bun:test'
import { foreignIn, unescapeHtml } from './read-page.ts'
import { explorerOn } from './served.ts'

const HASH = '9PuqyNavM7r8jMAwpzuaEp9syibZRaURXwgHbckve53p'
const CONTRACT = 'Contract5aHQiyi3zX8bwRWao4fMvxFi5UabjPPaqhUJ8eyUb9RW'

const explorer = await explorerOn()

/** The page to which the search for a text redirects; `undefined`: it shows a list of results. */
async function findTarget(text: string, prefix = '', own = explorer): Promise<string | undefined> {
  const { response } = await own.visit(`${prefix}/search?text=${encodeURIComponent(text)}`)
  const location = response.headers.get('location')
  return location === null ? undefined : new URL(location, `http://127.0.0.1${prefix}/search`).pathname
}

test.each([
  ['IOST', '/token/iost'],
  ['USER_004', '/account/user_004'],
  ['4,824', '/block/4824'],
  ['区块 4,824 ', '/block/4824'],
  [HASH, `/tx/${HASH}`],
  [`${HASH.slice(0, 10)}…${HASH.slice(-6)}`, `/tx/${HASH}`],
  [`https://explorer.example/#/tx/${HASH}?lang=en`, `/tx/${HASH}`],
  ['http://127.0.0.1:8080/zh/account/user_004?token=iost', '/account/user_004'],
  [CONTRACT, `/contract/${CONTRACT}`],
  [`${CONTRACT.slice(0, 10)}…${CONTRACT.slice(-6)}`, `/contract/${CONTRACT}`],
  ['NFT_CATS', '/nft/nft_cats'],
  ['TOKEN.IOST', '/contract/token.iost'],
])('search: %s leads to its page, in both languages', async (text, path) => {
  expect(await findTarget(text)).toBe(path)
  expect(await findTarget(text, '/zh')).toBe(`/zh${path}`)
})

test('search: the key of a producer leads to the producer', async () => {
  const { pubkey } = await explorer.call('producer/get-producer-detail', { producer: 'producer000' })
  expect(await findTarget(pubkey)).toBe('/producer/producer000')
})

test('search: a full name lists its token with the number of holders', async () => {
  const tokens = await explorer.list('base/get-token-list', { size: '500' })
  const named = tokens.filter(({ symbol, full_name }) => / /.test(full_name) && symbol !== 'iost')
  expect(named.length).toBeGreaterThan(0)
  for (const { symbol, full_name, holder_count } of named.slice(0, 3)) {
    const { html } = await explorer.visit(`/search?text=${encodeURIComponent(full_name.toUpperCase())}`)
    expect(html).toContain(`"token/${symbol}"`)
    expect(html).toContain(`<data value="${holder_count}"`)
  }
})

/** The first suggestion for a text. */
async function suggest(text: string, prefix = ''): Promise<string> {
  const response = await explorer.ask(`${prefix}/suggest?text=${encodeURIComponent(text)}`)
  return (/<li[^>]*>(.*?)<\/li>/s.exec(await response.text())?.[1] ?? '').replaceAll(/<[^>]*>/g, '')
}

test('search: suggestions have the kind and one fact of each match, in both languages', async () => {
  const [row] = await explorer.list('account/get-balances', { accounts: 'busyhub' })
  const [whole = ''] = String(row?.['balance']).split('.', 1)
  for (const [text, prefix, line] of [
    ['BUSYHUB', '', new RegExp(`^busyhub Account · ${Number(whole).toLocaleString('en')}\\S* iost$`)],
    ['busyhub', '/zh', /^busyhub 账户 · /],
    ['iost', '', /^iost Token · [\d,]+ holders$/],
    ['4,824', '', /^4824 Block · 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC$/],
    [HASH, '', /^\S+ Transaction · 20\S+ \S+ UTC · failed$/],
    [HASH, '/zh', / UTC · 失败$/],
  ] as const)
    expect(await suggest(text, prefix)).toMatch(line)
})

test.each([
  ['/search', 'Search · IOST', false],
  ['/search?text=%20', 'Search · IOST', false],
  ['/zh/search', '搜索 · IOST', false],
  ['/search?text=no%20such%20thing', 'no such thing', true],
])(
  'search: %s shows the forms in which things are found, and whether one is missing',
  async (path, title, isMissing) => {
    const page = await explorer.visit(path)
    expect(page.title).toContain(title)
    expect(/Nothing has this name|没有对应此名称/.test(page.text)).toBe(isMissing)
    expect(page.text).toMatch(/first 10 characters|前 10 个字符/)
  },
)

test('search: a transaction has the time of its block, as on its page, not the time that its signer set', async () => {
  // The genesis transaction has no time of its own.
  for (const number of ['0', '4824']) {
    const { transactions } = await explorer.call('block/get-block-tx', { number })
    const hash = transactions.at(-1)
    const [, time = ''] = /Time(20\S+ \S+ UTC)/.exec((await explorer.visit(`/tx/${hash}`)).text) ?? []
    expect([number, await suggest(hash.slice(0, 12))]).toEqual([number, `${hash} Transaction · ${time}`])
  }
})

const LABELS = new Map([
  ['busyhub', { en: 'Some Exchange', zh: '某交易所' }],
  [CONTRACT, { en: 'Some Game', zh: '某游戏' }],
  ['prod_01', { en: 'Some Pool', zh: 'Some Pool' }],
  ['not_there', { en: 'Some Nobody', zh: 'Some Nobody' }],
  ['token.iost', { en: 'Some Tokens', zh: 'Some Tokens' }],
])
const PAID = 'EtsagS1FGY4f1kEZGu8zoryj8pXKSBazcHujbC4c958e'
const labelled = await explorerOn({ labels: LABELS })

const labelsBehind = (html: string, name: string) =>
  [...html.matchAll(new RegExp(`/${name}"[^>]*><bdi>[^<]*</bdi></a>(.{0,60})`, 'g'))].map(
    ([, rest = '']) => /^ <small class="label(?: given)?"><bdi>([^<]*)</.exec(rest)?.[1] ?? '',
  )

test('labels: a label follows its name on every page with that name, in the language of the page', async () => {
  for (const [path, name, ...labels] of [
    ...[`/tx/${PAID}`, '/transactions', '/account/user_004', '/wealth'].map(
      each => [each, 'busyhub', 'Some Exchange', '某交易所'] as const,
    ),
    ['/contracts', CONTRACT, 'Some Game', '某游戏'],
    ['/producers', 'prod_01', 'Some Pool', 'Some Pool'],
    ['/account/ram.iost', 'deadaddr', 'burn address', '销毁地址'],
  ] as const) {
    const shown = (await labelled.visitBoth(path)).map(({ html }) => [...new Set(labelsBehind(html, name))])
    expect([path, shown]).toEqual([path, labels.map(label => [label])])
  }
})

test.each([
  ['/account/busyhub', 'Some Exchange', '某交易所'],
  [`/contract/${CONTRACT}`, 'Some Game', '某游戏'],
  ['/producer/prod_01', 'Some Pool', 'Some Pool'],
  // Parts of the chain have a built-in label, unless the operator set another one.
  ['/account/ram.iost', 'RAM market', 'RAM 市场'],
  ['/contract/vote_producer.iost', 'producer elections', ''],
  ['/contract/token.iost', 'Some Tokens', 'Some Tokens'],
])('labels: the page %s has its label in the heading, and a given one in the title', async (path, en, zh) => {
  const [pageEn, pageZh] = await labelled.visitBoth(path)
  expect([pageEn.heading.includes(en), pageZh.heading.includes(zh)]).toEqual([true, true])
  if (en.startsWith('Some')) expect([pageEn.title.includes(en), pageZh.title.includes(zh)]).toEqual([true, true])
  expect(pageEn.text).not.toContain('token contract')
})

test('labels: the search finds names by their labels, in both languages and in any spelling', async () => {
  for (const [text, path] of [
    ['some exchange', '/account/busyhub'],
    ['某交易所', '/account/busyhub'],
    ['ＳＯＭＥ ＧＡＭＥ', `/contract/${CONTRACT}`],
    // A text that is a name finds this name, even if it also matches labels.
    ['busyhub', '/account/busyhub'],
  ] as const)
    expect([text, await findTarget(text, '', labelled)]).toEqual([text, path])
  const { html } = await labelled.visit('/search?text=some')
  // A name that is not on the chain has no page.
  expect([...LABELS.keys()].filter(name => !html.includes(`/${name}"`))).toEqual(['not_there'])
  expect((await labelled.visit('/suggest?text=exch')).html).toContain('data-to="account/busyhub"')
})

test('labels: hostile labels have no effect', async () => {
  const label = `"'><script>bad()</script>`
  const labels = new Map([...LABELS.keys()].map(name => [name, { en: label, zh: label }]))
  const { visit } = await explorerOn({ labels })
  for (const path of [`/tx/${PAID}`, '/account/busyhub', '/producers', '/search?text=script', '/suggest?text=script']) {
    const page = await visit(path)
    expect([path, foreignIn(page), unescapeHtml(page.html).includes(label)]).toEqual([path, [], true])
  }
})
