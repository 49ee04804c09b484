import { expect, test } from 'bun:test'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { actions } from '#actions/registry.ts'
import { formatRoute } from '#http/openapi/action-operation.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { cliFolder } from '../support/processes/cli-process.ts'
import { clientOf } from '../support/processes/client.ts'
import { serviceOn } from '../support/processes/service.ts'
import { fillFromRecording, loadedStore } from '../support/stores/loaded.ts'

/** A service behind a base path: all its addresses are below that path, and so are all links in its answers. */

const ORIGIN = 'http://127.0.0.1:8080'

const pathOf = (url: string): string => url.slice(ORIGIN.length)
/** The target of a reference in an answer of this address. */
const resolved = (reference: string, at: string): string => pathOf(new URL(reference, `${ORIGIN}${at}`).href)
const matchesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, match = '']) => match)

const prefix = '/a/b-c'
const served = serviceOn(await loadedStore(), { basePath: prefix })
const get = (path: string) => served.ask(path, { headers: { 'x-api-key': served.key } })
const textAt = async (path: string): Promise<string> => (await get(path)).text()
const expectAll = async (paths: Iterable<string>): Promise<void> => {
  for (const path of paths) expect([path, (await get(path)).status]).toEqual([path, 200])
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
  expect((await get(`${prefix}/rpc/getNodeInfo`)).status).toBe(503)
})

test('base path: redirects lead to the reference', async () => {
  for (const path of ['', '/', '/docs', '/docs/', '/docs/en/', '/openapi.json/?numbers=string']) {
    const at = `${prefix}${path}`
    const response = await served.ask(at)
    const to = resolved(response.headers.get('location') ?? '', at)
    const expected = path.startsWith('/openapi') ? '/openapi.json?numbers=string' : '/docs/en'
    expect([at, response.status, to]).toEqual([at, 302, `${prefix}${expected}`])
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
  const [next = ''] = matchesIn((await get(at)).headers.get('link') ?? '', /<([^>]+)>; rel="next"/g)
  await expectAll([resolved(next, at)])
})

test('serve: with --base-path the first line is the complete URL', async () => {
  await using folder = await cliFolder()
  await mkdir(join(folder.path, 'data'))
  const store = openSqlite({ path: join(folder.path, 'data', 'iostlens.sqlite') })
  await fillFromRecording(store, { to: 5 })
  await store.close()
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
