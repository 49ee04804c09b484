import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { openProxy, pass } from '../nodes/faulty-proxy.ts'
import { ROOT } from '../root.ts'

/** What leads a process to a store and kills it at a counted write, whatever the time. */
export type Doomed = {
  /** Arguments of the process, as those of `Place`. */
  readonly place: readonly string[]
  readonly store: string
  readonly environment: Readonly<Record<string, string>>
  /** Call this with a function that kills the process, as soon as the process runs. */
  killWith(kill: () => void): void
  close(): Promise<void>
}

/**
 * On SQLite the process dies right before write number `write` (from 1). On Elasticsearch it dies when the
 * server has handled request number `write` and has not answered. A process with fewer writes completes.
 */
export async function doomed(place: readonly string[], write: number): Promise<Doomed> {
  const [kind = '', at = '', prefix = '', ...more] = place
  if (kind === 'sqlite') {
    const environment = doomedAtWrite(at, write)
    return { place, store: `sqlite:${at}`, environment, killWith: () => {}, close: async () => {} }
  }
  const { promise: killer, resolve: killWith } = Promise.withResolvers<() => void>()
  const proxy = await openProxy(at, ({ number }) => {
    if (number < write) return pass
    // Concurrent requests never reach the server. They must not fail before the process is killed either.
    if (number > write) return { type: 'hold', until: Promise.withResolvers().promise }
    return { type: 'end', run: () => void killer.then(kill => kill()) }
  })
  return {
    place: [kind, proxy.url, prefix, ...more],
    store: `${proxy.url}/${prefix}`,
    environment: {},
    killWith,
    close: proxy.close,
  }
}

/** Environment of a process that dies right before write number `write` into the file. */
export const doomedAtWrite = (path: string, write: number): Readonly<Record<string, string>> => ({
  BUN_OPTIONS: `--preload=${join(import.meta.dir, 'kill-at-write.ts')}`,
  KILL_AT_WRITE: String(write),
  KILL_PATH: path,
})

const made = new Map<string, Promise<string>>()

/**
 * Path of a test program as a single file with its bytecode next to it, with which a process starts three
 * times as fast. Each test process builds it once. The program must not use top-level await.
 */
function bundled(program: string): Promise<string> {
  const known = made.get(program) ?? make(program)
  made.set(program, known)
  return known
}

async function make(program: string): Promise<string> {
  const outdir = mkdtempSync(join(tmpdir(), 'iostlens-program-'))
  process.once('exit', () => rmSync(outdir, { recursive: true, force: true }))
  await Bun.build({ entrypoints: [program], outdir, target: 'bun', format: 'cjs', bytecode: true })
  return join(outdir, basename(program).replace(/\.ts$/, '.js'))
}

type Task = {
  readonly program: string
  readonly place: readonly string[]
  readonly before?: readonly string[]
  readonly after?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

/** Runs a program of this folder, killed at write number `write`. Returns whether that was before its end. */
export async function diesAt(write: number, task: Task): Promise<boolean> {
  const doom = await doomed(task.place, write)
  const program = await bundled(join(ROOT, 'test/support/processes', task.program))
  const command = [program, ...(task.before ?? []), ...doom.place]
  const running = Bun.spawn([process.execPath, ...command, ...(task.after ?? [])], {
    env: { ...process.env, ...task.environment, ...doom.environment },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  doom.killWith(() => running.kill('SIGKILL'))
  const [said, code] = await Promise.all([new Response(running.stderr).text(), running.exited])
  await doom.close()
  if (code !== 0 && running.signalCode !== 'SIGKILL') throw new Error(said)
  return code !== 0
}
