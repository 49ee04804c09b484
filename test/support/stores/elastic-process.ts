import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../processes/free-port.ts'
import { ROOT } from '../root.ts'
import { elasticsearchUrl } from './elasticsearch.ts'

const SCRIPT = join(ROOT, 'scripts/elasticsearch')
const CAN_NOT_BE_HAD = 3

/**
 * An Elasticsearch process on 127.0.0.1 for one test, which can be killed and started again with the same
 * ports and data.
 */
export type OwnServer = {
  readonly name: string
  readonly url: string
  /** The server's folder, with `config`, `data` and `logs`. */
  readonly folder: string
  /** Resolves when the process reports that it has started. It may not answer requests yet. */
  start(): Promise<void>
  /** Sends SIGKILL, as the kernel or a power cut ends it. */
  kill(): void
  /** Sends SIGSTOP: connections stay open and nothing runs, as in a long garbage collection or on a hung machine. */
  pause(): void
  /** Ends a pause. */
  resume(): void
}

type ServerOptions = {
  readonly scheme?: 'http' | 'https'
  /** Additional lines of `elasticsearch.yml`. */
  readonly settings?: readonly string[]
  /** Additional files of the folder `config`, by name. */
  readonly files?: Readonly<Record<string, string>>
}

export type OwnServers = Disposable & {
  /** Prepares a server. No process runs before `start`. */
  make(name: string, ports: Ports, options?: ServerOptions): OwnServer
}

export type Ports = { readonly http: number; readonly transport: number }

/**
 * A folder for servers of one test file, removed at the end. undefined: no server can run here, and a message says why.
 */
export async function ownServers(): Promise<OwnServers | undefined> {
  if (elasticsearchUrl() === undefined) return undefined
  const unpacking = Bun.spawn([SCRIPT, 'unpack'], { stdout: 'pipe', stderr: 'pipe' })
  const [code, out, err] = await Promise.all([
    unpacking.exited,
    new Response(unpacking.stdout).text(),
    new Response(unpacking.stderr).text(),
  ])
  if (code !== 0 && (code !== CAN_NOT_BE_HAD || process.env['CI'])) throw new Error(err)
  if (code !== 0) {
    process.stderr.write(`\nSKIPPED: TESTS THAT KILL ELASTICSEARCH. ${err}\n\n`)
    return undefined
  }
  const folder = out.trim()
  // A server left behind by the tests would run for ever.
  const stop = (): void => void spawnSync(SCRIPT, ['stop', folder])
  process.once('exit', stop)
  return {
    make: (name, ports, options) => makeServer(folder, name, ports, options),
    [Symbol.dispose]: () => {
      process.removeListener('exit', stop)
      stop()
    },
  }
}

function makeServer(
  folder: string,
  name: string,
  ports: Ports,
  { scheme = 'http', settings = [], files = {} }: ServerOptions = {},
): OwnServer {
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
    folder: own,
    start,
    kill: () => signal('SIGKILL'),
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

/** Two unused ports. */
export const freePorts = async (): Promise<Ports> => ({ http: await freePort(), transport: await freePort() })
