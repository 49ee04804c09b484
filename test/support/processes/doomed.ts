import { join } from 'node:path'
import { openProxy, pass } from '../nodes/faulty-proxy.ts'
import { ROOT } from '../root.ts'
import { bundled } from './bundled.ts'

/** What leads a process to a store and ends it there at a counted write: where in its work it dies is no matter of time. */
export type Doomed = {
  /** Arguments of the process, as those of `Place`. */
  readonly place: readonly string[]
  /** The same as a value of `--store`. */
  readonly store: string
  /** To be added to what is in the environment of the process. */
  readonly environment: Readonly<Record<string, string>>
  /** Called as soon as the process runs, with what kills it. */
  killWith(kill: () => void): void
  close(): Promise<void>
}

/**
 * Of a store in SQLite the process dies right before its write number `write` (from 1); of one in Elasticsearch when the
 * server has carried out its request number `write` and has not answered. A process with fewer of them comes to its end.
 */
export const doomed = (place: readonly string[], write: number): Promise<Doomed> =>
  place[0] === 'sqlite' ? doomedSqlite(place, write) : doomedElastic(place, write)

/** Environment of a process that dies right before its write number `write` into the file. */
export const doomedAtWrite = (path: string, write: number): Readonly<Record<string, string>> => ({
  BUN_OPTIONS: `--preload=${join(import.meta.dir, 'kill-at-write.ts')}`,
  KILL_AT_WRITE: String(write),
  KILL_PATH: path,
})

const doomedSqlite = async (place: readonly string[], write: number): Promise<Doomed> => {
  const [, path = ''] = place
  return {
    place,
    store: `sqlite:${path}`,
    environment: doomedAtWrite(path, write),
    killWith: () => {},
    close: async () => {},
  }
}

const doomedElastic = async (place: readonly string[], write: number): Promise<Doomed> => {
  const [kind = '', url = '', prefix = '', ...more] = place
  const { promise: killer, resolve: killWith } = Promise.withResolvers<() => void>()
  const proxy = await openProxy(url, ({ number }) => {
    if (number < write) return pass
    // What is sent beside it never arrives; nor does it fail before the process is killed.
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

export type Task = {
  readonly program: string
  readonly place: readonly string[]
  /** Arguments before and after those of the place. */
  readonly before?: readonly string[]
  readonly after?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

/** Runs a program of this folder, killed at its write number `write`; whether that came before its end. */
export const diesAt = async (write: number, task: Task): Promise<boolean> => {
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
