import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../processes/free-port.ts'
import { ROOT } from '../root.ts'
import { elasticsearchUrl } from './elasticsearch.ts'

const SCRIPT = join(ROOT, 'scripts/elasticsearch')
const CAN_NOT_BE_HAD = 3

/** A server of a test's own, on 127.0.0.1, to be killed and started again with the same ports and data. */
export type OwnServer = {
  readonly name: string
  readonly url: string
  /** Its folder, with `config`, `data` and `logs`. */
  readonly folder: string
  /** Resolves when the process says it runs; whether it can answer yet is another question. */
  start(): Promise<void>
  /** SIGKILL, as the kernel or a power cut does it. */
  kill(): void
  /** SIGSTOP: it keeps its connections and does nothing, as in a long collection or on a hung machine. */
  pause(): void
  /** Ends a pause. */
  resume(): void
  /** Runs a tool of the distribution, such as `bin/elasticsearch-users`, for this server; what it printed. */
  run(command: string, ...args: readonly string[]): Promise<string>
}

export type ServerOptions = {
  readonly scheme?: 'http' | 'https'
  /** Lines of `elasticsearch.yml` beside the usual ones. */
  readonly settings?: readonly string[]
  /** Further files of the folder `config`, by name. */
  readonly files?: Readonly<Record<string, string>>
  readonly heap?: string
}

export type OwnServers = Disposable & {
  /** Prepares a server; nothing runs before it is started. */
  make(name: string, ports: Ports, options?: ServerOptions): OwnServer
}

export type Ports = { readonly http: number; readonly transport: number }

/** A folder for servers of one's own, all gone at the end; undefined: none can be had here, and that was said. */
export const ownServers = async (): Promise<OwnServers | undefined> => {
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
  // What runs on when the tests end would run for ever.
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

const makeServer = (
  folder: string,
  name: string,
  ports: Ports,
  { scheme = 'http', settings = [], files = {}, heap = '512m' }: ServerOptions = {},
): OwnServer => {
  const own = join(folder, name)
  const pidFile = join(own, 'pid')
  mkdirSync(join(own, 'config'), { recursive: true })
  const version = new Bun.Glob('elasticsearch-*/config/log4j2.properties').scanSync(folder).next().value
  cpSync(join(folder, String(version)), join(own, 'config/log4j2.properties'))
  const all = {
    'elasticsearch.yml': [...usual(own, name, ports), ...settings].map(line => `${line}\n`).join(''),
    // Made for a server that lives for seconds: a small heap, one collector thread, quick compilation.
    'jvm.options': `-Xms${heap}\n-Xmx${heap}\n-XX:+UseSerialGC\n-XX:TieredStopAtLevel=1\n-Djava.io.tmpdir=${join(own, 'tmp')}\n`,
    ...files,
  }
  for (const [file, text] of Object.entries(all)) writeFileSync(join(own, 'config', file), text)
  const run: OwnServer['run'] = async (command, ...args) => {
    // To a file, not a pipe: a server lives on and would hold a pipe open.
    const output = Bun.file(join(own, 'output'))
    const child = Bun.spawn([SCRIPT, 'run', folder, name, command, ...args], {
      stdin: 'ignore',
      stdout: output,
      stderr: output,
    })
    const code = await child.exited
    const text = await output.text()
    if (code !== 0) throw new Error(`${command} ended with ${code}:\n${text.slice(-4_000)}`)
    return text
  }
  const signal = (name: NodeJS.Signals): boolean => process.kill(Number(readFileSync(pidFile, 'utf8')), name)
  return {
    name,
    url: `${scheme}://127.0.0.1:${ports.http}`,
    folder: own,
    start: async () => {
      rmSync(pidFile, { force: true })
      await run('bin/elasticsearch', '-d', '-p', pidFile)
    },
    kill: () => signal('SIGKILL'),
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    run,
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

/** Two ports that nobody listens on. */
export const freePorts = async (): Promise<Ports> => ({ http: await freePort(), transport: await freePort() })
