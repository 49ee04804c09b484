import { mkdtemp, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Running, spawnIn } from '../support/processes/cli-process.ts'
import { runTool } from '../support/processes/run-tool.ts'
import { systemProgram } from '../support/processes/system-program.ts'
import { ROOT } from '../support/root.ts'

/** Host names in the examples: a host of the service's own, and a host with a path. */
const OWN_NAME = 'api.example.org'
export const PATH_NAME = 'example.org'

/** The two services: one with its own host, by its port or Unix socket, and one behind a path. */
type Behind = { readonly own: number | string; readonly path: number }

type Asked = {
  readonly host?: string
  /** The client's address, in 127.0.0.0/8. */
  readonly from?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A real proxy that runs the example configurations of its folder, with TLS. */
export type RunningProxy = AsyncDisposable & {
  /** Sends a request over TLS. The body is not read yet. */
  open(path: string, asked?: Asked): Promise<IncomingMessage>
  /** The proxy's log of requests. */
  requestLog(): Promise<string>
  /** Ends the proxy as its service manager does. Its log is complete then. */
  stop(): Promise<void>
}

export const PROXIES = ['nginx', 'caddy'] as const

/** A loopback address that no other process uses, so that all ports on it are free. */
const ownAddress = (): string =>
  `127.${64 + ((process.pid >> 16) & 63)}.${(process.pid >> 8) & 255}.${process.pid & 255}`

const PORTS = { nginx: 8443, caddy: 9443 } as const

/** The example with the values of this machine. Each text to replace must exist. */
async function adapted(file: string, changes: readonly (readonly [from: string, to: string])[]) {
  let text = await Bun.file(join(ROOT, 'packaging', file)).text()
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`packaging/${file} has no ${JSON.stringify(from)}.`)
    text = text.replaceAll(from, to)
  }
  return text
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

type Place = {
  readonly folder: string
  readonly address: string
  readonly behind: Behind
  readonly key: string
  readonly certificate: string
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

export async function startProxy(name: (typeof PROXIES)[number], behind: Behind): Promise<RunningProxy> {
  const folder = await mkdtemp(join(tmpdir(), `iostlens-${name}-`))
  const own = await certificateIn(folder)
  const address = ownAddress()
  const running = await START[name]({ folder, address, behind, ...own })
  const ca = await Bun.file(own.certificate).text()
  const open: RunningProxy['open'] = (path, { host = OWN_NAME, from = '127.0.0.1', headers = {} } = {}) =>
    new Promise((resolve, reject) => {
      const sent = request({
        ...{
          host: address,
          port: PORTS[name],
          servername: host,
          ca,
          path,
          localAddress: from,
          agent: false,
          timeout: 60_000,
        },
        headers: { host: `${host}:${PORTS[name]}`, ...headers },
      })
      sent.on('response', resolve)
      sent.on('error', reject)
      sent.on('timeout', () => sent.destroy(new Error(`${path}: nothing came for a minute.`)))
      sent.end()
    })
  const stop = async (): Promise<void> => {
    running.kill('SIGTERM')
    await running.ended
  }
  let hasEnded = false
  void running.ended.then(() => {
    hasEnded = true
  })
  for (;;) {
    if (hasEnded) throw new Error(`${name} ended:\n${running.logged()}`)
    const answer = await open('/health').catch(() => undefined)
    answer?.resume()
    if (answer !== undefined) break
    await Bun.sleep(20)
  }
  return {
    open,
    stop,
    requestLog: () => Bun.file(join(folder, 'requests.log')).text(),
    [Symbol.asyncDispose]: async () => {
      await stop()
      await rm(folder, { recursive: true })
    },
  }
}

/** The whole body. */
export async function bodyOf(answer: IncomingMessage): Promise<string> {
  let text = ''
  answer.setEncoding('utf8')
  for await (const part of answer) text += part
  return text
}
