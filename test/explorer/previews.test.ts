import { expect, setDefaultTimeout, test } from 'bun:test'
import { grouped } from '#explorer/format/amount.ts'
import { samplePaths } from './samples.ts'
import { type Explorer, explorerOn } from './served.ts'

// The first test may have to build the file of the whole chain. A test that hangs still ends.
setDefaultTimeout(600_000)

const explorer = await explorerOn()

const metaOf = (html: string, name: string): string =>
  new RegExp(`<meta (?:property|name)="${name}" content="([^"]*)"`).exec(html)?.[1] ?? ''

const described = async (path: string): Promise<string> =>
  metaOf((await explorer.visit(path)).html, 'og:description').replaceAll('&#39;', "'")

test('previews: all pages name one picture, with an absolute address and its size; browsers may keep it', async () => {
  const seen = new Set<string>()
  for (const path of [...(await samplePaths(explorer)), '/zh/account/admin', '/zh/', '/account/nosuch']) {
    const { html } = await explorer.visit(path)
    const sides = [metaOf(html, 'og:image:width'), metaOf(html, 'og:image:height')]
    expect([path, sides, metaOf(html, 'twitter:card')]).toEqual([path, ['1200', '630'], 'summary_large_image'])
    expect([path, metaOf(html, 'og:image:alt')]).toEqual([
      path,
      path.startsWith('/zh') ? 'IOST 浏览器' : 'IOST explorer',
    ])
    seen.add(metaOf(html, 'og:image'))
  }
  expect(seen.size).toBe(1)
  const { origin, pathname } = new URL([...seen][0] ?? '')
  const { headers, ...response } = await readPicture(explorer, pathname)
  expect([origin, response.status, response.sides]).toEqual(['http://127.0.0.1:8080', 200, [1_200, 630]])
  expect(headers.get('content-type')).toBe('image/png')
  expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(headers.get('content-length')).toBe(String(response.bytes))
  // Nothing is drawn for a single page.
  for (const path of ['/picture.png', '/account/admin/picture.png', '/token/iost/picture.png'])
    expect([path, (await explorer.ask(path)).status]).toEqual([path, 404])
  const behind = await explorerOn({ basePath: '/iost' })
  const own = new URL(metaOf((await behind.visit('/iost/token/iost')).html, 'og:image')).pathname
  expect([own, (await behind.ask(own)).status]).toEqual([`/iost${pathname}`, 200])
})

async function readPicture({ ask }: Explorer, path: string) {
  const { status, headers, ...response } = await ask(path).then(async answer => ({
    ...{ status: answer.status, headers: answer.headers },
    png: await answer.bytes(),
  }))
  const view = new DataView(response.png.buffer, response.png.byteOffset)
  return { status, headers, bytes: response.png.length, sides: [view.getUint32(16), view.getUint32(20)] }
}

type Balance = { readonly balance: string; readonly frozen_balance: { readonly total: string } }

test('previews: figures in the descriptions match the API', async () => {
  const { call } = explorer
  const { wealth } = await call<{ readonly wealth: readonly { readonly account: string }[] }>('base/get-wealth-list', {
    size: '50',
  })
  for (const { account } of wealth) {
    const { balance, frozen_balance } = await call<Balance>('account/get-account-balance', { account })
    const path = `/account/${encodeURIComponent(account)}`
    // The page shows the same sum.
    const [, total = ''] = /<dt>Total<\/dt><dd>.*?<data value="([^"]*)"/s.exec((await explorer.visit(path)).html) ?? []
    expect([account, await described(path)]).toEqual([
      account,
      expect.stringContaining(
        `${account} on IOST holds ${grouped(total)} iost: ${grouped(balance)} available, ${grouped(frozen_balance.total)} frozen, `,
      ),
    ])
  }
  const token = await call<Readonly<Record<string, string | number>>>('token/get-token-detail', { token: 'iost' })
  const [supply, most, holders] = ['current_supply', 'total_supply', 'holder_count'].map(name =>
    grouped(String(token[name])),
  )
  expect(await described('/token/iost')).toBe(
    `Token iost on IOST: supply ${supply} of at most ${most}, ${holders} holders.`,
  )
  expect(await described('/zh/token/iost')).toBe(
    `IOST 代币 iost：供应量 ${supply}，上限 ${most}，${holders} 个持有者。`,
  )
  expect(await described('/block/4824')).toStartWith(
    'Block 4,824 of the IOST chain: 2026-11-21 08:25:19 UTC, produced by producer000, ',
  )
})

const PAID = 'EtsagS1FGY4f1kEZGu8zoryj8pXKSBazcHujbC4c958e'
const FAILED = '4qDBRfj8UZTQWMrkuh3chkrXE31d3yh6hpoA3MvTKuaL'

test('previews: a transaction is described by its outcome and its first movement', async () => {
  expect(await described(`/tx/${PAID}`)).toBe(
    `Success: 0.5 iost from busyhub to user_001. Transaction ${PAID} of the IOST chain.`,
  )
  expect(await described(`/zh/tx/${PAID}`)).toBe(`成功：busyhub 向 user_001 转出 0.5 iost。IOST 交易 ${PAID}。`)
  expect(await described(`/tx/${FAILED}`)).toStartWith('An action failed: by ')
})
