import { join } from 'node:path'
import { openProxy, pass } from '../nodes/faulty-proxy.ts'
import { ROOT } from '../root.ts'
import { bundled } from './bundled.ts'

/**
 * The settings that lead a process to a store and kill it at a counted write, so that the point of death does
 * not depend on time.
 */
export type Doomed = {
  /** Arguments of the process, as those of `Place`. */
  readonly place: readonly string[]
  /** The same store as a value of `--store`. */
  readonly store: string
  /** Additional environment variables of the process. */
  readonly environment: Readonly<Record<string, string>>
  /** Call this with a function that kills the process, as soon as the process runs. */
  killWith(kill: () => void): void
  close(): Promise<void>
}

/**
 * On SQLite the process dies right before write number `write` (from 1). On Elasticsearch it dies when the
 * server has handled request number `write` and has not answered. A process with fewer writes completes.
 */
export const doomed = (place: readonly string[], write: number): Promise<Doomed> =>
  place[0] === 'sqlite' ? doomedSqlite(place, write) : doomedElastic(place, write)

/** Environment of a process that dies right before write number `write` into the file. */
export const doomedAtWrite = (path: string, write: number): Readonly<Record<string, string>> => ({
  BUN_OPTIONS: `--preload=${join(import.meta.dir, 'kill-at-write.ts')}`,
  KILL_AT_WRITE: String(write),
  KILL_PATH: path,
})

async function doomedSqlite(place: readonly string[], write: number): Promise<Doomed> {
  const [, path = ''] = place
  return {
    place,
    store: `sqlite:${path}`,
    environment: doomedAtWrite(path, write),
    killWith: () => {},
    close: async () => {},
  }
}

async function doomedElastic(place: readonly string[], write: number): Promise<Doomed> {
  const [kind = '', url = '', prefix = '', ...more] = place
  const { promise: killer, resolve: killWith } = Promise.withResolvers<() => void>()
  const proxy = await openProxy(url, ({ number }) => {
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

type Task = {
  readonly program: string
  readonly place: readonly string[]
  /** Arguments before and after those of the store. */
  readonly before?: readonly string[]
  readonly after?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

/**
 * Runs a program of this folder and kills it at write number `write`. Returns whether it was killed before it
 * completed.
 */
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
