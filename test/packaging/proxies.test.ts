import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseIpRange } from '#http/client-address.ts'
import type { View } from '#store/port.ts'
import { until } from '#test/support/wait.ts'
import { type Service, serviceOn } from '../support/processes/service.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { bodyOf, PATH_NAME, PROXIES, type RunningProxy, startProxy } from './proxies.ts'

/** The example configurations for nginx and Caddy, run by these programs in front of services of the recorded chain. */

type Listening = Service & {
  /** The port, or the path of the Unix socket. */
  readonly place: number | string
  /** Called before each read of records. A test may delay it. */
  onRecords: () => Promise<void>
}

async function listening(basePath: string, socket?: string): Promise<Listening> {
  const loopback = parseIpRange('127.0.0.1')
  if (loopback === undefined) throw new Error('127.0.0.1 is an address.')
  const store = await loadedStore()
  const heldUp = (view: View): View => ({
    ...view,
    records: async (...asked) => {
      await served.onRecords()
      return view.records(...asked)
    },
  })
  const service = serviceOn(
    { ...store, read: (work, options) => store.read(view => work(heldUp(view)), options) },
    {
      basePath,
      explorer: basePath === '',
      trustedProxies: [socket === undefined ? loopback : 'unix'],
    },
  )
  service.app.listen(socket === undefined ? { hostname: '127.0.0.1', port: 0 } : { unix: socket })
  const place = socket ?? service.app.server?.port ?? 0
  const served = { ...service, place, onRecords: async () => undefined }
  return served
}

describe.each([...PROXIES.map(name => [name, 'a port'] as const), ['nginx', 'a Unix socket'] as const])(
  '%s before %s',
  (name, place) => {
    const socket = place === 'a port' ? undefined : join(tmpdir(), `iostlens-${process.pid}.sock`)

    let own: Listening
    let path: Listening
    let proxy: RunningProxy
    beforeAll(async () => {
      own = await listening('', socket)
      path = await listening('/iost')
      proxy = await startProxy(name, { own: own.place, path: Number(path.place) })
    })
    afterAll(async () => {
      await proxy[Symbol.asyncDispose]()
      await own.app.stop(true)
      await path.app.stop(true)
    })
    /** The service's log lines of a client. An answer is logged when its body has ended. */
    const linesOf = (client: string) => own.lines.filter(({ fields }) => fields['client'] === client)
    const endedFor = async (client: string): Promise<void> => {
      await until(() => linesOf(client).length > 0)
    }
    const askedBy =
      (from: string) =>
      (path: string, headers: Record<string, string> = {}) =>
        proxy.open(path, { from, headers: { 'x-api-key': own.key, ...headers } })

    test('the proxy answers over TLS as the service does, also long queries and refusals', async () => {
      const page = '/api/account/get-account-tx?account=busyhub&size=50&page=2'
      // With this profile the links of a page repeat all of these parameters four times.
      const many = Array.from({ length: 25 }, (_, at) => `&u${at}=${'a'.repeat(110)}`).join('')
      const links = `${page}&compat=iostabc${many}`
      const tooLong = `${page}&x=${'a'.repeat(9_000)}`
      for (const path of [page, links, tooLong, '/docs/zh']) {
        const direct = await own.ask(path, { headers: { 'x-api-key': own.key } })
        const through = await askedBy('127.0.0.1')(path)
        const said = [through.statusCode, through.headers['link'], withoutId(await bodyOf(through))]
        expect(said).toEqual([direct.status, direct.headers.get('link') ?? undefined, withoutId(await direct.text())])
      }
    })

    test('behind a path of a site, redirects, the reference and the servers of the OpenAPI document keep the path', async () => {
      const at = async (path: string) => {
        const answer = await proxy.open(path, { host: PATH_NAME })
        return { answer, text: await bodyOf(answer) }
      }
      const resolved = (reference: string, base: string): string => {
        const url = new URL(reference, `https://${PATH_NAME}${base}`)
        expect(url.hostname).toBe(PATH_NAME)
        return url.pathname
      }
      const [bare, root] = [await at('/iost'), await at('/iost/')]
      expect(resolved(bare.answer.headers.location ?? '', '/iost')).toBe('/iost/')
      expect(resolved(root.answer.headers.location ?? '', '/iost/')).toBe('/iost/docs/en')
      const { text } = await at('/iost/docs/en')
      const links = [...text.matchAll(/(?:href|src)="([^"#:]+)"/g)].map(([, link = '']) =>
        resolved(link, '/iost/docs/en'),
      )
      expect(links.length).toBeGreaterThan(2)
      for (const link of new Set(links)) expect([link, (await at(link)).answer.statusCode]).toEqual([link, 200])
      const document = JSON.parse((await at('/iost/openapi.json')).text)
      expect(resolved(document.servers[0].url, '/iost/openapi.json').replace(/\/$/, '')).toBe('/iost')
      expect((await at('/iost/health')).answer.statusCode).toBe(200)
    })

    test('metrics and status are not public', async () => {
      for (const [host, path] of [
        ...['/metrics', '/status', '/status?lang=zh'].map(each => [undefined, each] as const),
        ...['/iost/metrics', '/iost/status'].map(each => [PATH_NAME, each] as const),
      ]) {
        const answer = await proxy.open(path, host === undefined ? {} : { host })
        expect([path, answer.statusCode, await bodyOf(answer)]).toEqual([
          path,
          404,
          expect.not.stringContaining('iostlens'),
        ])
      }
    })

    test('limits apply to the address of the client, whatever headers it sends', async () => {
      const wrong = async (from: string, headers: Record<string, string>) => {
        const answer = await askedBy(from)('/api/base/get-wealth-list', { 'x-api-key': 'wrong', ...headers })
        await bodyOf(answer)
        return answer.statusCode
      }
      const statuses: unknown[] = []
      for (let times = 0; times < 130; times += 1)
        statuses.push(
          await wrong('127.0.0.2', {
            'x-forwarded-for': `198.51.100.${times}`,
            forwarded: `for=198.51.100.${times}`,
            'x-real-ip': `198.51.100.${times}`,
          }),
        )
      expect(statuses.slice(0, 100)).toEqual(Array(100).fill(401))
      expect(statuses).toContain(429)
      expect(await wrong('127.0.0.3', { 'x-forwarded-for': '127.0.0.2' })).toBe(401)
      const clients = new Set(own.lines.map(({ fields }) => fields['client']))
      expect([...clients].filter(client => String(client).startsWith('198.'))).toEqual([])
      expect([clients.has('127.0.0.2'), clients.has('127.0.0.3')]).toEqual([true, true])
    })

    test('events of a feed come while it is open, and it ends when the client leaves', async () => {
      const feed = await askedBy('127.0.0.4')('/api/account/get-account-tx?account=busyhub&start_seq=18261&format=sse')
      expect(feed.headers['content-type']).toStartWith('text/event-stream')
      let text = ''
      for await (const part of feed) {
        text += part
        if (text.includes('\nid: 18261@')) break
      }
      expect(text).toContain('\nevent: begin\n')
      expect(linesOf('127.0.0.4')).toEqual([])
      feed.destroy()
      await endedFor('127.0.0.4')
    })

    test('events of a page that follows the chain are not delayed, and the service notices when the client leaves', async () => {
      const live = await askedBy('127.0.0.6')('/live')
      let text = ''
      for await (const part of live) {
        text += part
        if (text.includes('data: ')) break
      }
      expect(text).toStartWith('retry: 2000\n\nid: 4851\ndata: 4851\n\n')
      expect(linesOf('127.0.0.6')).toEqual([])
      live.destroy()
      await endedFor('127.0.0.6')
    })

    test('the first rows of an export come while the service still reads the others', async () => {
      const gate = Promise.withResolvers<void>()
      let reads = 0
      // Reads of a thousand rows are held from the second one on, until the client has all rows of the first one.
      own.onRecords = async () => {
        reads += 1
        if (reads > 1) await gate.promise
      }
      const answer = await askedBy('127.0.0.5')(
        '/api/account/get-account-tx?account=busyhub&end_seq=2500&format=ndjson',
        // Caddy would request it compressed.
        { 'accept-encoding': 'identity' },
      )
      answer.setEncoding('utf8')
      let rows = 0
      for await (const part of answer) {
        rows += part.split('\n').length - 1
        if (rows === 1_000) gate.resolve()
      }
      expect([rows, reads]).toEqual([2_501, 3])
    })

    test('the log of requests contains no key', async () => {
      const answer = await proxy.open(`/api/base/get-wealth-list?apikey=${own.key}&size=3`)
      expect(answer.statusCode).toBe(200)
      await bodyOf(answer)
      await proxy.stop()
      const log = await proxy.requestLog()
      expect(log).toContain('/api/base/get-wealth-list')
      expect(log).not.toContain(own.key)
    })
  },
)

const withoutId = (text: string): string => text.replace(/"request_id":"[^"]*"/, '')
