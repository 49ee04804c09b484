import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseIpRange } from '#http/exchange.ts'
import type { Store, View } from '#store/port.ts'
import { type Running, spawnIn } from '../support/processes/cli-process.ts'
import { runTool, systemProgram } from '../support/processes/run-tool.ts'
import { serviceOn } from '../support/processes/service.ts'
import { ROOT } from '../support/root.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { until } from '../support/wait.ts'

/** Host names in the examples: a host of the service's own, and a host with a path. */
const OWN_NAME = 'api.example.org'
const PATH_NAME = 'example.org'

/** The two services: one with its own host, by its port or Unix socket, and one behind a path. */
type Behind = { readonly own: number | string; readonly path: number }

type Asked = {
  readonly host?: string
  /** The client's address, in 127.0.0.0/8. */
  readonly from?: string
  readonly headers?: Readonly<Record<string, string>>
}

const PROXIES = ['nginx', 'caddy'] as const

/** A loopback address that no other process uses, so that all ports on it are free. */
const ownAddress = (): string =>
  `127.${64 + ((process.pid >> 16) & 63)}.${(process.pid >> 8) & 255}.${process.pid & 255}`

const PORTS = { nginx: 8443, caddy: 9443 } as const

/** The example with the values of this machine. Each text to replace must exist. */
async function adapted(file: string, changes: readonly (readonly [from: string, to: string])[]) {
  let config = await Bun.file(join(ROOT, 'packaging', file)).text()
  for (const [from, to] of changes) {
    if (!config.includes(from)) throw new Error(`packaging/${file} has no ${JSON.stringify(from)}.`)
    config = config.replaceAll(from, to)
  }
  return config
}

async function certificateIn(folder: string) {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  await runTool([
    ...[await systemProgram('openssl', 'openssl'), 'req', '-x509', '-newkey', 'ec', '-days', '2', '-nodes'],
    ...['-pkeyopt', 'ec_paramgen_curve:prime256v1', '-keyout', key, '-out', certificate],
    ...['-subj', '/CN=test', '-addext', `subjectAltName=DNS:${OWN_NAME},DNS:${PATH_NAME}`],
  ])
  return { key, certificate }
}

type Place = Awaited<ReturnType<typeof certificateIn>> & {
  readonly folder: string
  readonly address: string
  readonly behind: Behind
}

/** Selects the line of the example for a port or the line for a socket. */
const upstreamOf = (own: Behind['own']): readonly (readonly [from: string, to: string])[] =>
  typeof own === 'number'
    ? [['127.0.0.1:8080', `127.0.0.1:${own}`]]
    : [
        ['  server 127.0.0.1:8080;\n', ''],
        ['# server unix:/run/iostlens/iostlens.sock;', `server unix:${own};`],
      ]

async function startNginx({ folder, address, behind, key, certificate }: Place): Promise<Running> {
  const listen = `listen ${address}:${PORTS.nginx} ssl http2;`
  const own = await adapted('nginx/iostlens.conf', [
    ['listen 443 ssl http2;', listen],
    ...upstreamOf(behind.own),
    ['/etc/ssl/api.example.org.pem', certificate],
    ['/etc/ssl/private/api.example.org.key', key],
    ['/var/log/nginx/iostlens.log', join(folder, 'requests.log')],
  ])
  const path = await adapted('nginx/path.conf', [
    ['proxy_pass http://iostlens;', `proxy_pass http://127.0.0.1:${behind.path};`],
    ['/var/log/nginx/iostlens.log', join(folder, 'requests.log')],
  ])
  const site = `server { ${listen} server_name ${PATH_NAME};
    ssl_certificate ${certificate}; ssl_certificate_key ${key};\n${path} }`
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    name => `${name}_temp_path ${folder}/${name};`,
  )
  await Bun.write(
    join(folder, 'nginx.conf'),
    `daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr;\n${process.getuid?.() === 0 ? 'user root;' : ''}
    events {}\nhttp { ${temporary.join(' ')} access_log off;\n${own}\n${site} }`,
  )
  const nginx = await systemProgram('nginx', 'nginx-light')
  return spawnIn(folder, [nginx, '-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')])
}

async function startCaddy({ folder, address, behind, key, certificate }: Place): Promise<Running> {
  const site = (name: string): readonly [string, string] => [
    `\n${name} {\n`,
    `\nhttps://${name}:${PORTS.caddy} {\n\tbind ${address}\n\ttls ${certificate} ${key}\n`,
  ]
  const own = await adapted('caddy/Caddyfile', [
    site(OWN_NAME),
    ['127.0.0.1:8080', `127.0.0.1:${behind.own}`],
    ['/var/log/caddy/iostlens.log', join(folder, 'requests.log')],
  ])
  const path = await adapted('caddy/path.Caddyfile', [site(PATH_NAME), ['127.0.0.1:8080', `127.0.0.1:${behind.path}`]])
  const global = '{\n\tadmin off\n\tauto_https off\n\tservers {\n\t\tprotocols h1 h2\n\t}\n}\n'
  await Bun.write(join(folder, 'Caddyfile'), `${global}${own}\n${path}`)
  const caddy = await systemProgram('caddy', 'caddy')
  return spawnIn(folder, [caddy, 'run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'], {
    HOME: folder,
  })
}

const START = { nginx: startNginx, caddy: startCaddy } as const

/** A real proxy that runs the example configurations of its folder, with TLS. */
async function startProxy(name: (typeof PROXIES)[number], behind: Behind) {
  const folder = await mkdtemp(join(tmpdir(), `iostlens-${name}-`))
  const own = await certificateIn(folder)
  const address = ownAddress()
  const running = await START[name]({ folder, address, behind, ...own })
  const ca = await Bun.file(own.certificate).text()
  const open = (path: string, { host = OWN_NAME, from = '127.0.0.1', headers = {} }: Asked = {}) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request({
        ...{ host: address, port: PORTS[name], servername: host, ca, path },
        ...{ localAddress: from, agent: false, timeout: 60_000 },
        headers: { host: `${host}:${PORTS[name]}`, ...headers },
      })
      sent.on('response', resolve)
      sent.on('error', reject)
      sent.on('timeout', () => sent.destroy(new Error(`${path}: nothing came for a minute.`)))
      sent.end()
    })
  /** Ends the proxy as its service manager does. Its log is complete then. */
  const stop = async (): Promise<void> => {
    running.kill('SIGTERM')
    await running.ended
  }
  const ended = running.ended.then(() => Promise.reject(new Error(`${name} ended:\n${running.logged()}`)))
  ended.catch(() => undefined)
  const isOpen = async () => (await open('/health').catch(() => undefined))?.resume() !== undefined
  await Promise.race([until(isOpen, 20), ended])
  return {
    ...{ open, stop },
    requestLog: () => Bun.file(join(folder, 'requests.log')).text(),
    [Symbol.asyncDispose]: async () => {
      await stop()
      await rm(folder, { recursive: true })
    },
  }
}

/** A service on the recorded chain at a port or Unix socket. `onRecords` is called before each read of records. */
async function listening(basePath: string, socket?: string) {
  const loopback = parseIpRange('127.0.0.1')
  if (loopback === undefined) throw new Error('127.0.0.1 is an address.')
  const store = await loadedStore()
  const read: Store['read'] = (work, options) =>
    store.read(view => {
      const records: View['records'] = async (...asked) => {
        await served.onRecords()
        return view.records(...asked)
      }
      return work({ ...view, records })
    }, options)
  const trustedProxies = [socket === undefined ? loopback : ('unix' as const)]
  const service = serviceOn({ ...store, read }, { basePath, explorer: basePath === '', trustedProxies })
  service.app.listen(socket === undefined ? { hostname: '127.0.0.1', port: 0 } : { unix: socket })
  const place = socket ?? service.app.server?.port ?? 0
  const served = { ...service, place, onRecords: async (): Promise<void> => undefined }
  return served
}

describe.each([...PROXIES.map(name => [name, 'a port'] as const), ['nginx', 'a Unix socket'] as const])(
  '%s before %s',
  (name, place) => {
    const socket = place === 'a port' ? undefined : join(tmpdir(), `iostlens-${process.pid}.sock`)

    let own: Awaited<ReturnType<typeof listening>>
    let path: typeof own
    let proxy: Awaited<ReturnType<typeof startProxy>>
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
        const said = [through.statusCode, through.headers['link'], withoutId(await text(through))]
        expect(said).toEqual([direct.status, direct.headers.get('link') ?? undefined, withoutId(await direct.text())])
      }
    })

    test('behind a path of a site, redirects, the reference and the servers of the OpenAPI document keep the path', async () => {
      const at = async (path: string) => {
        const answer = await proxy.open(path, { host: PATH_NAME })
        return { answer, body: await text(answer) }
      }
      const resolved = (reference: string, base: string): string => {
        const url = new URL(reference, `https://${PATH_NAME}${base}`)
        expect(url.hostname).toBe(PATH_NAME)
        return url.pathname
      }
      const [bare, root] = [await at('/iost'), await at('/iost/')]
      expect(resolved(bare.answer.headers.location ?? '', '/iost')).toBe('/iost/')
      expect(resolved(root.answer.headers.location ?? '', '/iost/')).toBe('/iost/docs/en')
      const { body } = await at('/iost/docs/en')
      const found = [...body.matchAll(/(?:href|src)="([^"#:]+)"/g)]
      const links = new Set(found.map(([, link = '']) => resolved(link, '/iost/docs/en')))
      expect(links.size).toBeGreaterThan(1)
      for (const link of links) expect([link, (await at(link)).answer.statusCode]).toEqual([link, 200])
      const document = JSON.parse((await at('/iost/openapi.json')).body)
      expect(resolved(document.servers[0].url, '/iost/openapi.json').replace(/\/$/, '')).toBe('/iost')
      expect((await at('/iost/health')).answer.statusCode).toBe(200)
    })

    test('metrics and status are not public', async () => {
      for (const path of ['/metrics', '/status', '/status?lang=zh', '/iost/metrics', '/iost/status']) {
        const answer = await proxy.open(path, { host: path.startsWith('/iost') ? PATH_NAME : OWN_NAME })
        const body = await text(answer)
        expect([path, answer.statusCode, body.includes('iostlens')]).toEqual([path, 404, false])
      }
    })

    test('limits apply to the address of the client, whatever headers it sends', async () => {
      const wrong = async (from: string, headers: Record<string, string>) => {
        const answer = await askedBy(from)('/api/base/get-wealth-list', { 'x-api-key': 'wrong', ...headers })
        await text(answer)
        return answer.statusCode
      }
      const statuses: unknown[] = []
      for (let times = 0; times < 130; times += 1) {
        const ip = `198.51.100.${times}`
        statuses.push(await wrong('127.0.0.2', { 'x-forwarded-for': ip, forwarded: `for=${ip}`, 'x-real-ip': ip }))
      }
      expect(statuses.slice(0, 100)).toEqual(Array(100).fill(401))
      expect(statuses).toContain(429)
      expect(await wrong('127.0.0.3', { 'x-forwarded-for': '127.0.0.2' })).toBe(401)
      const clients = new Set(own.lines.map(({ fields }) => fields['client']))
      expect([...clients].filter(client => String(client).startsWith('198.'))).toEqual([])
      expect([clients.has('127.0.0.2'), clients.has('127.0.0.3')]).toEqual([true, true])
    })

    test.each([
      ['/api/account/get-account-tx?account=busyhub&start_seq=18261&format=sse', '127.0.0.4', '\nid: 18261@'],
      ['/live', '127.0.0.6', 'retry: 2000\n\nid: 4851\ndata: 4851\n\n'],
    ])(
      'events of %s come while it is open, and the service notices when the client leaves',
      async (path, from, event) => {
        const feed = await askedBy(from)(path)
        expect(feed.headers['content-type']).toStartWith('text/event-stream')
        let seen = ''
        for await (const part of feed) {
          seen += part
          if (seen.includes(event)) break
        }
        expect(linesOf(from)).toEqual([])
        feed.destroy()
        await until(() => linesOf(from).length > 0)
      },
    )

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
      await text(answer)
      await proxy.stop()
      const log = await proxy.requestLog()
      expect(log).toContain('/api/base/get-wealth-list')
      expect(log).not.toContain(own.key)
    })
  },
)

const withoutId = (text: string): string => text.replace(/"request_id":"[^"]*"/, '')
