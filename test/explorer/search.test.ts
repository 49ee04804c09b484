import { expect, test } from 'bun:test'
import { explorerOn } from './served.ts'

const HASH = '9PuqyNavM7r8jMAwpzuaEp9syibZRaURXwgHbckve53p'
const CONTRACT = 'Contract5aHQiyi3zX8bwRWao4fMvxFi5UabjPPaqhUJ8eyUb9RW'

const explorer = await explorerOn()

/** The page to which the search for a text redirects; `undefined`: it shows a list of results. */
async function ledTo(text: string, prefix = ''): Promise<string | undefined> {
  const { response } = await explorer.visit(`${prefix}/search?text=${encodeURIComponent(text)}`)
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
  expect(await ledTo(text)).toBe(path)
  expect(await ledTo(text, '/zh')).toBe(`/zh${path}`)
})

test('search: the key of a producer leads to the producer', async () => {
  const { pubkey } = await explorer.call('producer/get-producer-detail', { producer: 'producer000' })
  expect(await ledTo(pubkey)).toBe('/producer/producer000')
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

async function linesOf(text: string, prefix = ''): Promise<readonly string[]> {
  const response = await explorer.ask(`${prefix}/suggest?text=${encodeURIComponent(text)}`)
  const html = await response.text()
  return [...html.matchAll(/<li[^>]*>(.*?)<\/li>/gs)].map(([, line = '']) => line.replaceAll(/<[^>]*>/g, ''))
}

test('search: suggestions have the kind and one fact of each match, in both languages', async () => {
  const balances = await explorer.list('account/get-balances', { accounts: 'busyhub' })
  const [whole = ''] = String(balances[0]?.['balance']).split('.', 1)
  const [line = ''] = await linesOf('BUSYHUB')
  expect(line).toStartWith('busyhub Account · ')
  expect(line.replaceAll(',', '')).toContain(whole)
  expect(line).toEndWith(' iost')
  expect((await linesOf('busyhub', '/zh'))[0]).toStartWith('busyhub 账户 · ')
  expect((await linesOf('iost'))[0]).toMatch(/^iost Token · [\d,]+ holders$/)
  expect((await linesOf('4,824'))[0]).toMatch(/^4824 Block · 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
  expect((await linesOf(HASH))[0]).toMatch(/^\S+ Transaction · 20\S+ \S+ UTC · failed$/)
  expect((await linesOf(HASH, '/zh'))[0]).toEndWith(' UTC · 失败')
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
    expect([page.title.includes(title), /Nothing has this name|没有对应此名称/.test(page.text)]).toEqual([
      true,
      isMissing,
    ])
    expect(page.text).toMatch(/first 10 characters|前 10 个字符/)
  },
)

test('search: a transaction has the time of its block, as on its page, not the time that its signer set', async () => {
  // The genesis transaction has no time of its own.
  for (const number of ['0', '4824']) {
    const hashes = await explorer.list('block/get-block-tx', { number })
    const hash = String(hashes.at(-1))
    const { text } = await explorer.visit(`/tx/${hash}`)
    const [, time = ''] = /Time(20\S+ \S+ UTC)/.exec(text) ?? []
    const [line = ''] = await linesOf(hash.slice(0, 12))
    expect([number, line]).toEqual([number, `${hash} Transaction · ${time}`])
  }
})
