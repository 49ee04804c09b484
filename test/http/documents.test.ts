import { expect, test } from 'bun:test'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { actions } from '#actions/registry.ts'
import { documentHandlers } from '#http/documents.ts'
import type { Exchange } from '#http/exchange.ts'
import { formatRoute } from '#http/openapi/action-operation.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { cliFolder } from '#test/support/processes/cli-process.ts'
import { clientOf } from '#test/support/processes/client.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { fillFromRecording, loadedStore } from '#test/support/stores/loaded.ts'
import { systemClock } from '#time/clock.ts'

/** Documents cost little, however many ask for them. CPU is measured, not time. */

const store = await loadedStore()
const PATHS = ['/docs/en', '/openapi.json', '/client.js', '/llms.txt']
const MORE = ['/docs/zh', '/openapi.json?format=csv', '/client.ts']
const GZIP = { headers: { 'accept-encoding': 'gzip' } }

/** Microseconds of CPU that a work takes. */
async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** A service that has found its examples, so that only the document is measured. */
async function start() {
  const { ask } = serviceOn(store)
  await ask('/openapi.json?format=bare')
  return ask
}

test.each(SOAK ? [...PATHS, ...MORE] : PATHS)(
  'documents: %s is made once for all first requests at once, and sent as it is kept afterwards',
  async path => {
    // Warm code: the first service pays for it.
    await (await start())(path, GZIP)
    const ask = await start()
    const alone = await cpuOf(() => ask(path, GZIP))
    const other = await start()
    const texts = new Set<string>()
    const crowd = await cpuOf(async () => {
      for (const answer of await Promise.all(Array.from({ length: 60 }, () => other(path, GZIP))))
        texts.add(`${answer.status} ${answer.headers.get('content-encoding')} ${(await answer.bytes()).toHex()}`)
    })
    expect([texts.size, [...texts][0]]).toEqual([1, expect.stringMatching(/^200 gzip /)])
    expect([path, crowd < 6 * alone + 60 * 5_000]).toEqual([path, true])
    const [plain, packed] = [await other(path), await other(path, GZIP)]
    const tag = plain.headers.get('etag') ?? ''
    expect(packed.headers.get('etag')).toBe(`${tag.slice(0, -1)}-gzip"`)
    expect(new TextDecoder().decode(Bun.gunzipSync(await packed.arrayBuffer()))).toBe(await plain.text())
    expect((await other(path, { headers: { 'if-none-match': tag } })).status).toBe(304)
  },
)

test('documents: each counts as a visit of its network, and too many are refused', async () => {
  const none = { get: () => undefined }
  const visits: string[] = []
  let wait = 0
  const visit = (network: string): number => {
    visits.push(network)
    return wait
  }
  const assets = { style: '', script: '', theme: '', preview: '' }
  const deps = { store, node: undefined, prices: none, profiles: none, clock: systemClock }
  const documents = documentHandlers(deps, {
    addresses: { visit, refresh: () => 0 },
    site: { version: '', isExplored: false, labels: new Map(), assets },
    files: { style: '', script: '' },
    defaults: { format: 'envelope', compat: 'none' },
    basePath: '',
  })
  const { signal } = new AbortController()
  const ask = (path: string) => {
    const exchange = { path, query: [], client: { address: 'a', network: 'net' } } as unknown as Exchange
    return documents.get(path)?.handler(exchange, signal, () => () => undefined)
  }
  for (const path of documents.keys()) expect([path, (await ask(path))?.status]).toEqual([path, 200])
  expect(visits).toEqual([...documents.keys()].map(() => 'net'))
  wait = 1_000
  for (const path of documents.keys())
    await expect(ask(path)).rejects.toThrow('Too many pages were opened from this network address within a minute.')
})

/** A service behind a base path: all its addresses are below that path, and so are all links in its answers. */

const ORIGIN = 'http://127.0.0.1:8080'

const pathOf = (url: string): string => url.slice(ORIGIN.length)
/** The target of a reference in an answer of this address. */
const resolved = (reference: string, at: string): string => pathOf(new URL(reference, `${ORIGIN}${at}`).href)
const matchesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, match = '']) => match)

const prefix = '/a/b-c'
const served = serviceOn(store, { basePath: prefix })
const textAt = async (path: string): Promise<string> => (await served.get(path)).text()
const expectAll = async (paths: Iterable<string>): Promise<void> => {
  for (const path of paths) expect([path, (await served.get(path)).status]).toEqual([path, 200])
}

test('base path: every document, route and page of the service is below it, and nothing else is served', async () => {
  const documents = ['docs/en', 'docs/zh', 'openapi.json', 'client.ts', 'client.js', 'llms.txt', 'robots.txt']
  const own = ['health', 'ready', ...documents, 'favicon.svg', 'favicon.ico', 'apple-touch-icon.png']
  const paths = [
    ...own.map(name => `/${name}`),
    ...['/api?module=base&action=get-overview', '/api/?module=base&action=get-overview'],
    ...actions.map(action => `${formatRoute(action)}?${new URLSearchParams(action.example)}`),
  ]
  await expectAll(paths.map(path => `${prefix}${path}`))
  const strangers = [...paths, '', '/', '/docs', `${prefix}x/health`, `/x${prefix}/health`]
  for (const path of strangers) expect([path, (await served.ask(path)).status]).toEqual([path, 404])
  expect(await textAt('/health')).toContain(` ${prefix}/docs, `)
  expect(await textAt(`${prefix}/robots.txt`)).toContain(`Disallow: ${prefix}/api/\n`)
  // The gateway has no node here, so it refuses with its own error, not with that of an unknown path.
  expect((await served.get(`${prefix}/rpc/getNodeInfo`)).status).toBe(503)
})

test('base path: redirects are relative, and lead to the reference in the reader’s language', async () => {
  for (const path of ['', '/', '/docs', '/docs/', '/docs/zh/', '/openapi.json/?numbers=string', '/status/?lang=zh']) {
    const at = `${prefix}${path}`
    const { status, headers } = await served.get(at, { 'Accept-Language': 'zh' })
    const location = headers.get('location') ?? ''
    const expected = path.includes('?') ? path.replace('/?', '?') : '/docs/zh'
    expect([at, status, resolved(location, at)]).toEqual([at, 302, `${prefix}${expected}`])
    expect(location).not.toStartWith('/')
  }
})

test('base path: the links in the reference, llms.txt and the OpenAPI document exist', async () => {
  for (const lang of ['en', 'zh']) {
    const at = `${prefix}/docs/${lang}`
    const page = await textAt(at)
    const links = matchesIn(page, /(?:href|src)="([^"#]+)"/g).map(link => resolved(link, at))
    expect(links.length).toBeGreaterThan(2)
    await expectAll(new Set(links))
    const forms = matchesIn(page, /data-path="([^"]+)"/g).map(path => resolved(path, at))
    expect(forms).toEqual(actions.map(action => `${prefix}${formatRoute(action)}`))
  }
  const named = matchesIn(await textAt(`${prefix}/llms.txt`), /\]\(([^)#]+)/g)
  await expectAll(new Set(named.map(link => resolved(link, `${prefix}/llms.txt`))))
  const { servers, paths } = JSON.parse(await textAt(`${prefix}/openapi.json`))
  const base = resolved(servers[0].url, `${prefix}/openapi.json`).replace(/\/$/, '')
  expect([base, Object.keys(paths).includes('/health')]).toEqual([prefix, true])
})

test('base path: the client and the links of pages use it', async () => {
  const client = await clientOf(
    { ...served, ask: path => served.ask(`${prefix}${path}`) },
    { fetch: (url, init) => served.ask(pathOf(url), init), url: `${ORIGIN}${prefix}` },
  )
  const rows = await Array.fromAsync(client['getWealthList']?.rows() ?? [])
  expect(rows.length).toBeGreaterThan(100)
  const at = `${prefix}/api/base/get-wealth-list?size=5`
  const [next = ''] = matchesIn((await served.get(at)).headers.get('link') ?? '', /<([^>]+)>; rel="next"/g)
  await expectAll([resolved(next, at)])
})

test('serve: with --base-path the first line is the complete URL', async () => {
  await using folder = await cliFolder()
  await mkdir(join(folder.path, 'data'))
  const short = openSqlite({ path: join(folder.path, 'data', 'iostlens.sqlite') })
  await fillFromRecording(short, { to: 5 })
  await short.close()
  const serving = folder.start(['serve', '--listen', '127.0.0.1:0', '--base-path', '/iost/'])
  const url = await serving.firstLine
  expect(url).toMatch(/:\d+\/iost$/)
  expect((await fetch(`${url}/health`)).status).toBe(200)
  expect((await fetch(new URL('/health', url))).status).toBe(404)
  // The URL without a slash at its end, as a user would type it.
  const page = await fetch(url)
  expect([page.status, page.url]).toEqual([200, `${url}/docs/en`])
  serving.kill('SIGINT')
  expect((await serving.ended).code).toBe(0)
})
