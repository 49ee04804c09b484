import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { inflateSync } from 'node:zlib'
import { askAtOneHeight } from '#actions/ask.ts'
import { grouped } from '#explorer/format/amount.ts'
import { type Drawn, PICTURE } from '#explorer/picture/picture.ts'
import { pictures } from '#explorer/picture/pictures.ts'
import { svgOf } from '#explorer/picture/svg.ts'
import { routeAt } from '#explorer/route.ts'
import { drawPng } from '#http/picture/draw.ts'
import { keptPictures } from '#http/picture/kept-pictures.ts'
import { systemClock } from '#time/clock.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { samplePaths } from './samples.ts'
import { type Explorer, explorerOn } from './served.ts'

// The first test may have to build the file of the whole chain. A test that hangs still ends.
setDefaultTimeout(600_000)

let explorer: Explorer
beforeAll(async () => {
  explorer = await explorerOn()
})

/** Width, height and pixels of a PNG with one IDAT chunk. Each chunk's data follows its length and type. */
const read = (png: Uint8Array) => {
  const view = new DataView(png.buffer, png.byteOffset)
  const [width, height, length] = [view.getUint32(16), view.getUint32(20), view.getUint32(33)]
  return { width, height, rows: inflateSync(png.subarray(41, 41 + length)) }
}

const SIGNATURE = '89504e470d0a1a0a'

test('pictures: the head of each page names a picture with an absolute address and its size', async () => {
  const seen = new Set<string>()
  for (const path of [...(await samplePaths(explorer)), '/zh/account/admin', '/zh/', '/account/nosuch']) {
    const { html, title } = await explorer.visit(path)
    const meta = (name: string) =>
      new RegExp(`<meta (?:property|name)="${name}" content="([^"]*)"`).exec(html)?.[1] ?? ''
    const { origin, pathname } = new URL(meta('og:image'))
    expect([path, origin]).toEqual([path, 'http://127.0.0.1:8080'])
    const sides = [meta('og:image:width'), meta('og:image:height')]
    expect([path, sides, meta('twitter:card')]).toEqual([path, ['1200', '630'], 'summary_large_image'])
    expect([path, `${meta('og:image:alt')} · IOST`]).toEqual([path, title])
    if (seen.has(pathname)) continue
    seen.add(pathname)
    const response = await explorer.ask(pathname)
    expect([pathname, response.status, response.headers.get('content-type')]).toEqual([...[pathname, 200], 'image/png'])
    const png = await response.bytes()
    expect(png.subarray(0, 8).toHex()).toBe(SIGNATURE)
    const { width, height, rows } = read(png)
    expect([width, height, rows.length]).toEqual([1_200, 630, 630 * (1 + 4 * 1_200)])
  }
  const kinds = [...seen].map(path => path.split('/').at(1))
  expect(new Set(kinds)).toEqual(new Set(['picture.png', 'block', 'account', 'tx', 'token']))
})

test('pictures: an answer has an entity tag, a missing picture is not found, and addresses include the base path', async () => {
  const first = await explorer.ask('/account/admin/picture.png')
  const tag = first.headers.get('etag') ?? ''
  const again = await explorer.ask('/account/admin/picture.png', { headers: { 'if-none-match': tag } })
  expect([tag.length > 2, again.status]).toEqual([true, 304])
  for (const path of ['/account/nosuch/picture.png', '/tx/x/picture.png', '/wealth/picture.png'])
    expect([path, (await explorer.ask(path)).status >= 400]).toEqual([path, true])
  const behind = await explorerOn({ basePath: '/iost' })
  const { html } = await behind.visit('/iost/token/iost')
  const { pathname } = new URL(/og:image" content="([^"]*)"/.exec(html)?.[1] ?? '')
  expect([pathname, (await behind.ask(pathname)).status]).toEqual(['/iost/token/iost/picture.png', 200])
})

test('pictures: figures match the API', async () => {
  const { call } = explorer
  const drawn = async (path: string): Promise<Drawn> => {
    const { found, id = '' } = routeAt(pictures, `${path}/${PICTURE}`) ?? {}
    const deps = {
      ...{ store: await loadedStore(), node: undefined, clock: systemClock },
      ...{ prices: { get: () => undefined }, profiles: { get: () => undefined } },
    }
    const show = found?.show ?? (() => Promise.reject(new Error(`${path} has no picture.`)))
    return askAtOneHeight(deps, ({ ask }) => show({ ask, id }), { signal: AbortSignal.timeout(600_000) })
  }
  const { wealth } = await call<Wealth>('base/get-wealth-list', { size: '50' })
  for (const { account: name } of wealth) {
    const { balance } = await call<{ readonly balance: string }>('account/get-account-balance', {
      account: name,
    })
    const { kind, facts } = await drawn(`/account/${encodeURIComponent(name)}`)
    expect([name, facts[0]]).toEqual([name, ['Available', `${grouped(balance)} iost`]])
    // The page shows the same sum with the same words.
    const { html, heading } = await explorer.visit(`/account/${encodeURIComponent(name)}`)
    expect([name, heading.startsWith(kind)]).toEqual([name, true])
    const [, total = ''] = /<dt>Total<\/dt><dd>.*?<data value="([^"]*)"/s.exec(html) ?? []
    expect([name, facts[1]]).toEqual([name, ['Total', `${grouped(total)} iost`]])
  }
  const paid = await drawn('/tx/EtsagS1FGY4f1kEZGu8zoryj8pXKSBazcHujbC4c958e')
  expect(paid.facts).toEqual([
    ['Status', 'Success'],
    ['Moved', '0.5 iost'],
    ['From', 'busyhub'],
    ['To', 'user_001'],
  ])
  const failed = await drawn('/tx/4qDBRfj8UZTQWMrkuh3chkrXE31d3yh6hpoA3MvTKuaL')
  expect(failed.facts[0]).toEqual(['Status', 'An action failed'])
  const token = await call<Readonly<Record<string, string | number>>>('token/get-token-detail', {
    token: 'iost',
  })
  expect((await drawn('/token/iost')).facts.map(([, value]) => value)).toEqual(
    ['current_supply', 'total_supply', 'holder_count'].map(name => grouped(String(token[name]))),
  )
  const { name, facts } = await drawn('/block/4824')
  expect([name, ...facts.slice(0, 2).map(([, value]) => value)]).toEqual([
    ...['4,824', '2026-11-21 08:25:19', 'producer000'],
  ])
})

type Wealth = { readonly wealth: readonly { readonly account: string }[] }

const HOSTILE = '"\'></text></svg><script>bad()</script>&lt;\u202e\u0000\ud800中文👨‍👩‍👧‍👦'

test('pictures: texts may have any characters and any length', async () => {
  const plain = await drawPng(svgOf({ kind: '', name: '', facts: [] }))
  for (const text of [HOSTILE, HOSTILE.repeat(500), 'x'.repeat(65_536), '', '中'.repeat(100)]) {
    const facts = [[text, text] as const, [text, text] as const]
    const svg = svgOf({ kind: text, name: text, facts })
    expect([svg.length < 8_192, /script|[^ -~…]/.test(svg.replaceAll('&lt;script', ''))]).toEqual([true, false])
    const { rows } = read(await drawPng(svg))
    expect(rows.equals(read(plain).rows)).toBe(text === '')
  }
})

test('pictures: the same content gives the same picture, on any machine', async () => {
  const svg = svgOf({ kind: 'Account', name: 'user_000', facts: [['Available', '249,601.466784 iost']] })
  const [one, two] = [await drawPng(svg), await drawPng(svg)]
  expect(Buffer.from(one).equals(two)).toBe(true)
  expect(new Bun.CryptoHasher('sha256').update(read(one).rows).digest('hex').slice(0, 16)).toBe('c5622940a0f2c2a7')
})

test('keptPictures: pictures are drawn one after the other, each once; a failed one is drawn again', async () => {
  const [drawn, waiting]: [string[], PromiseWithResolvers<Uint8Array<ArrayBuffer>>[]] = [[], []]
  const kept = keptPictures(svg => {
    drawn.push(svg)
    const next = Promise.withResolvers<Uint8Array<ArrayBuffer>>()
    waiting.push(next)
    return next.promise
  })
  const asked = ['a', 'b', 'a'].map(kept)
  await Bun.sleep(0)
  expect(drawn).toEqual(['a'])
  waiting[0]?.resolve(Uint8Array.of(1))
  expect(await asked[2]).toEqual(Uint8Array.of(1))
  await Bun.sleep(0)
  expect(drawn).toEqual(['a', 'b'])
  waiting[1]?.reject(new Error('broken'))
  await expect(asked[1]).rejects.toThrow('broken')
  const again = kept('b')
  await Bun.sleep(0)
  expect(drawn).toEqual(['a', 'b', 'b'])
  waiting[2]?.resolve(Uint8Array.of(2))
  expect(await again).toEqual(Uint8Array.of(2))
})
