import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../processes/free-port.ts'
import { ROOT } from '../root.ts'
import { until } from '../wait.ts'
import { elasticsearchUrl } from './elasticsearch.ts'
import { openTroubledLine, type TroubledLine } from './troubled-line.ts'

const SCRIPT = join(ROOT, 'scripts/elasticsearch')
const CAN_NOT_BE_HAD = 3

export type OwnServer = ReturnType<typeof makeServer>

type ServerOptions = {
  readonly scheme?: 'http' | 'https'
  readonly settings?: readonly string[]
  readonly files?: Readonly<Record<string, string>>
}

type Ports = { readonly http: number; readonly transport: number }

/** A folder for the servers of a test file. undefined: no server can run here, as a message says. */
export function ownServers() {
  if (elasticsearchUrl() === undefined) return undefined
  const { status, stdout: out, stderr: err } = spawnSync(SCRIPT, ['unpack'], { encoding: 'utf8' })
  if (status !== 0 && (status !== CAN_NOT_BE_HAD || process.env['CI'])) throw new Error(err)
  if (status !== 0) {
    process.stderr.write(`\nSKIPPED: TESTS THAT KILL ELASTICSEARCH. ${err}\n\n`)
    return undefined
  }
  const folder = out.trim()
  // A server left behind by the tests would run for ever.
  const stop = (): void => void spawnSync(SCRIPT, ['stop', folder])
  process.once('exit', stop)
  return {
    /** Prepares a server. No process runs before `start`. */
    make: (name: string, ports: Ports, options?: ServerOptions) => makeServer(folder, name, ports, options),
    [Symbol.dispose]: () => {
      process.removeListener('exit', stop)
      stop()
    },
  }
}

/** An Elasticsearch process, which can be killed and started again with the same ports and data. */
function makeServer(
  folder: string,
  name: string,
  ports: Ports,
  { scheme = 'http', settings = [], files = {} }: ServerOptions = {},
) {
  const own = join(folder, name)
  const pidFile = join(own, 'pid')
  mkdirSync(join(own, 'config'), { recursive: true })
  const version = new Bun.Glob('elasticsearch-*/config/log4j2.properties').scanSync(folder).next().value
  cpSync(join(folder, String(version)), join(own, 'config/log4j2.properties'))
  const all = {
    'elasticsearch.yml': [...usual(own, name, ports), ...settings].map(line => `${line}\n`).join(''),
    // Settings for a server that lives for seconds: a small heap, a single-threaded collector, quick compilation.
    'jvm.options': `-Xms512m\n-Xmx512m\n-XX:+UseSerialGC\n-XX:TieredStopAtLevel=1\n-Djava.io.tmpdir=${join(own, 'tmp')}\n`,
    ...files,
  }
  for (const [file, text] of Object.entries(all)) writeFileSync(join(own, 'config', file), text)
  /** Resolves when the process reports that it has started. It may not answer requests yet. */
  const start = async (): Promise<void> => {
    rmSync(pidFile, { force: true })
    // Output goes to a file: a server that outlives this process would keep a pipe open.
    const output = Bun.file(join(own, 'output'))
    const child = Bun.spawn([SCRIPT, 'run', folder, name, 'bin/elasticsearch', '-d', '-p', pidFile], {
      stdin: 'ignore',
      stdout: output,
      stderr: output,
    })
    const code = await child.exited
    if (code !== 0) throw new Error(`Elasticsearch ended with ${code}:\n${(await output.text()).slice(-4_000)}`)
  }
  const signal = (name: NodeJS.Signals): boolean => process.kill(Number(readFileSync(pidFile, 'utf8')), name)
  return {
    name,
    url: `${scheme}://127.0.0.1:${ports.http}`,
    /** The server's folder, with `config`, `data` and `logs`. */
    folder: own,
    start,
    /** As the kernel or a power cut ends it. */
    kill: () => signal('SIGKILL'),
    /** Connections stay open and nothing runs, as in a long garbage collection or on a hung machine. */
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
  }
}

const usual = (own: string, name: string, { http, transport }: Ports): readonly string[] => [
  'cluster.name: iostlens-test',
  `node.name: ${name}`,
  'network.host: 127.0.0.1',
  `http.port: ${http}`,
  `transport.port: ${transport}`,
  `path.data: ${own}/data`,
  `path.logs: ${own}/logs`,
  'cluster.routing.allocation.disk.threshold_enabled: false',
  'action.auto_create_index: false',
]

export const freePorts = async (): Promise<Ports> => ({ http: await freePort(), transport: await freePort() })

/** Settings of a server without users and passwords, in a cluster that drops a server that ends, but none that hangs. */
const SETTINGS = [
  'xpack.security.enabled: false',
  ...['follower_check', 'leader_check'].map(check => `cluster.fault_detection.${check}.timeout: 1h`),
]

/** Three servers of a cluster, and the lines over which the other servers reach each of them. */
export type ThreeServers = {
  readonly servers: readonly [OwnServer, OwnServer, OwnServer]
  readonly lines: readonly TroubledLine[]
}

/** A cluster of three servers. No process runs before it is started. */
export async function threeServers(own: NonNullable<ReturnType<typeof ownServers>>): Promise<ThreeServers> {
  const names = ['first', 'second', 'third'] as const
  const ports = [await freePorts(), await freePorts(), await freePorts()] as const
  const lines = await Promise.all(ports.map(({ transport }) => openTroubledLine(`http://127.0.0.1:${transport}`)))
  const seen = lines.map(({ url }) => new URL(url).port)
  const all = [
    `discovery.seed_hosts: [${seen.map(port => `"127.0.0.1:${port}"`).join(', ')}]`,
    `cluster.initial_master_nodes: [${names.join(', ')}]`,
    ...SETTINGS,
  ]
  const make = (at: 0 | 1 | 2): OwnServer =>
    own.make(names[at], ports[at], { settings: [...all, `transport.publish_port: ${seen[at]}`] })
  return { servers: [make(0), make(1), make(2)], lines }
}

export const urlOfAll = (servers: readonly { readonly url: string }[]): string =>
  `http://${servers.map(({ url }) => url.slice('http://'.length)).join(',')}`

/** Resolves when the cluster health is as `wanted`, for example `wait_for_nodes=3`. */
export const healthy = (url: string, wanted: string): Promise<void> =>
  until(async () => {
    // The connection is refused until a node that was just started listens. The status is 408 when the wait timed out.
    const answer = await fetch(`${url}/_cluster/health?${wanted}&timeout=10s`).catch(() => undefined)
    return answer?.ok === true
  })

export const isGreen = (url = ''): Promise<void> => healthy(url, 'wait_for_status=green')

export async function masterName(url: string): Promise<string> {
  const [master] = (await (await fetch(`${url}/_cat/master?format=json`)).json()) as {
    readonly node: string
  }[]
  return master?.node ?? ''
}
