import { Failure } from '#failure/failure.ts'
import { underRepair } from '#store/mending.ts'
import { nothingLoaded } from '#store/nothing-loaded.ts'
import type { ReadPort } from '#store/read-port.ts'
import { type Connection, openReader } from './connection.ts'
import { guarded } from './failures.ts'
import type { KeptFile } from './kept-file.ts'
import { checkFingerprint } from './meta.ts'
import { deadline, poolOf } from './pool.ts'
import { readStates } from './read-state.ts'
import { inspect } from './schema.ts'
import { viewOf } from './view.ts'

/**
 * Requests that read at the same time; each has one connection (3 files), and the others wait for one. More than may wait
 * for a node (`http/turns.ts`), so that requests which need no node are answered meanwhile.
 */
const READERS = 48

export type Readers = {
  /** Runs `work` in one read transaction; undefined: no store there yet. */
  readonly once: <T>(work: (connection: Connection) => T, signal?: AbortSignal) => Promise<T | undefined>
  /** `Store.read`. */
  readonly read: ReadPort['read']
  readonly close: () => void
}

type ReadersOptions = {
  /** Throws for a file that cannot be read. */
  readonly check?: typeof checkFingerprint
  /** Also what a repair has left half done. */
  readonly mayRead?: () => boolean
  /** Absent: a file that another one replaced is read as if it were the first. */
  readonly kept?: KeptFile
}

/** Connections that read, opened when needed. */
export const readersOf = (
  path: string,
  name: string,
  { check = checkFingerprint, mayRead = () => false, kept }: ReadersOptions = {},
): Readers => {
  const closed = () => new Failure('unavailable', `${name} is closed.`, { retryable: false })
  const closing = new AbortController()
  const states = readStates()
  const pool = poolOf<Connection | undefined>({
    size: READERS,
    open: () => openStore(path, name, { check, kept }),
    dispose: connection => connection?.close(),
    isOfUse: connection => connection?.isInPlace() === true,
    closed,
  })

  const borrowed = async <T>(
    signal: AbortSignal | undefined,
    work: (connection: Connection | undefined) => Promise<T>,
  ): Promise<T> => {
    const connection = await pool.borrow(signal)
    try {
      guarded(name, () => connection?.statement('BEGIN').run())
      return await work(connection)
    } finally {
      // Not there yet, or no longer usable: the next request opens another one.
      if (connection !== undefined && endsSnapshot(connection)) pool.giveBack(connection)
      else pool.drop(connection)
    }
  }

  return {
    once: (work, signal) =>
      borrowed(signal, async connection =>
        connection === undefined ? undefined : guarded(name, () => work(connection)),
      ),
    read: (work, { signal, damaged: isDamaged = false } = {}) =>
      borrowed(signal, async connection => {
        const state = connection && guarded(name, () => states.of(connection))
        if (connection === undefined || state === undefined) throw nothingLoaded(name)
        if (!mayRead() && state.isMending) throw underRepair(name)
        const { view, end } = viewOf(connection, name, { ...state, isDamaged })
        const stop = interruption([
          { signal, reason: deadline },
          { signal: closing.signal, reason: closed },
        ])
        try {
          return await Promise.race([stop.happened, work(view)])
        } finally {
          stop.forget()
          end(() => stop.reason() ?? new Failure('defect', 'A view was used after its read had ended.'))
        }
      }),
    close: () => {
      closing.abort()
      pool.close()
    },
  }
}

const endsSnapshot = ({ db, statement }: Connection): boolean => {
  try {
    if (db.inTransaction) statement('COMMIT').run()
    return true
  } catch {
    // The connection is closed because of it; the request keeps its own result.
    return false
  }
}

/** A connection to a store that this version made; undefined: there is none. */
const openStore = (
  path: string,
  name: string,
  { check, kept }: { readonly check: typeof checkFingerprint; readonly kept: KeptFile | undefined },
): Connection | undefined => {
  kept?.require()
  const connection = openReader(path, name)
  if (connection === undefined) return undefined
  try {
    if (inspect(connection, name) === 'store') {
      guarded(name, () => check(connection, name))
      kept?.take(connection)
      return connection
    }
  } catch (error) {
    connection.close()
    throw error
  }
  connection.close()
  return undefined
}

type Reason = { readonly signal: AbortSignal | undefined; readonly reason: () => Failure }

/** Rejects with the reason of the first signal that aborts. */
const interruption = (reasons: readonly Reason[]) => {
  const stopped = Promise.withResolvers<never>()
  let why: Failure | undefined
  const listeners = reasons.map(({ signal, reason }) => {
    const listen = () => {
      why ??= reason()
      stopped.reject(why)
    }
    signal?.addEventListener('abort', listen)
    if (signal?.aborted === true) listen()
    return () => signal?.removeEventListener('abort', listen)
  })
  return {
    happened: stopped.promise,
    reason: () => why,
    forget: () => {
      for (const stop of listeners) stop()
    },
  }
}
