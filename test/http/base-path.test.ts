import { expect, test } from 'bun:test'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { actions } from '#actions/registry.ts'
import { formatRoute } from '#http/openapi/action-operation.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { cliFolder } from '../support/processes/cli-process.ts'
import { clientOf } from '../support/processes/client.ts'
import { type Service, serviceOn } from '../support/processes/service.ts'
import { fillFromRecording, loadedStore } from '../support/stores/loaded.ts'

/** A service behind a base path: all its addresses are below that path, and so are all links in its answers. */

const ORIGIN = 'http://127.0.0.1:8080'
const PREFIXES = ['/iost', '/a/b-c', '']

const pathOf = (url: string): string => url.slice(ORIGIN.length)
/** The target of a reference in an answer of this address. */
const resolved = (reference: string, at: string): string => pathOf(new URL(reference, `${ORIGIN}${at}`).href)
const okAt = async ({ ask, key }: Service, path: string): Promise<void> =>
  expect([path, (await ask(path, { headers: { 'x-api-key': key } })).status]).toEqual([path, 200])

for (const prefix of PREFIXES) {
  const service = async () => serviceOn(await loadedStore(), { basePath: prefix })

  test(`base path '${prefix}': every document, route and page of the service is below it, and nothing else is served`, async () => {
    const served = await service()
    const paths = [
      ...['/health', '/ready', '/docs/en', '/docs/zh', '/openapi.json', '/client.ts', '/client.js', '/llms.txt'],
      ...[
        '/robots.txt',
        '/favicon.svg',
        '/favicon.ico',
        '/apple-touch-icon.png',
        '/api?module=base&action=get-overview',
      ],
      ...actions.map(action => `${formatRoute(action)}?${new URLSearchParams(action.example)}`),
      '/api/?module=base&action=get-overview',
    ]
    for (const path of paths) await okAt(served, `${prefix}${path}`)
    const head = await served.ask(`${prefix}/health`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    if (prefix === '') return
    const strangers = [...paths, '', '/', '/docs', `${prefix}x/health`, `/x${prefix}/health`]
    for (const path of strangers) expect([path, (await served.ask(path)).status]).toEqual([path, 404])
    const { message } = (await (await served.ask('/health')).json()) as { readonly message: string }
    expect(message).toContain(` ${prefix}/docs, `)
    expect(await (await served.ask(`${prefix}/robots.txt`)).text()).toContain(`Disallow: ${prefix}/api/\n`)
    // The gateway has no node here, so it refuses with its own error, not with that of an unknown path.
    expect((await served.ask(`${prefix}/rpc/getNodeInfo`, { headers: { 'x-api-key': served.key } })).status).toBe(503)
  })

  test(`base path '${prefix}': redirects lead to the reference`, async () => {
    const served = await service()
    for (const path of ['', '/', '/docs', '/docs/', '/docs/en/', '/openapi.json/?numbers=string'].slice(
      prefix === '' ? 1 : 0,
    )) {
      const at = `${prefix}${path}`
      const response = await served.ask(at)
      expect([at, response.status]).toEqual([at, 302])
      const to = resolved(response.headers.get('location') ?? '', at)
      const expected = path.startsWith('/openapi') ? '/openapi.json?numbers=string' : '/docs/en'
      expect(to).toBe(`${prefix}${expected}`)
    }
  })

  test(`base path '${prefix}': the links in the reference, llms.txt and the OpenAPI document exist`, async () => {
    const served = await service()
    for (const lang of ['en', 'zh']) {
      const at = `${prefix}/docs/${lang}`
      const page = await (await served.ask(at)).text()
      const links = [...page.matchAll(/(?:href|src)="([^"#]+)"/g)].map(([, link = '']) => link)
      expect(links.length).toBeGreaterThan(2)
      for (const link of new Set(links)) await okAt(served, resolved(link, at))
      const forms = [...page.matchAll(/data-path="([^"]+)"/g)].map(([, path = '']) => resolved(path, at))
      expect(forms).toEqual(actions.map(action => `${prefix}${formatRoute(action)}`))
    }
    const llms = await (await served.ask(`${prefix}/llms.txt`)).text()
    const named = [...llms.matchAll(/\]\(([^)#]+)/g)].map(([, link = '']) => resolved(link, `${prefix}/llms.txt`))
    for (const path of new Set(named)) await okAt(served, path)
    const document = (await (await served.ask(`${prefix}/openapi.json`)).json()) as {
      readonly servers: readonly { readonly url: string }[]
      readonly paths: Readonly<Record<string, unknown>>
    }
    const [server] = document.servers
    const base = resolved(server?.url ?? '', `${prefix}/openapi.json`).replace(/\/$/, '')
    expect([base, Object.keys(document.paths).includes('/health')]).toEqual([prefix, true])
  })

  test(`base path '${prefix}': the client and the links of pages use it`, async () => {
    const served = await service()
    const client = await clientOf(
      { ...served, ask: path => served.ask(`${prefix}${path}`) },
      { fetch: (url, init) => served.ask(pathOf(url), init), url: `${ORIGIN}${prefix}` },
    )
    let rows = 0
    for await (const _ of client['getWealthList']?.rows() ?? []) rows += 1
    expect(rows).toBeGreaterThan(100)
    const at = `${prefix}/api/base/get-wealth-list?size=5`
    const response = await served.ask(at, { headers: { 'x-api-key': served.key } })
    const [, next = ''] = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? []
    await okAt(served, resolved(next, at))
  })
}

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
