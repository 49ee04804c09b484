import { Failure } from '#failure/failure.ts'
import { nothingLoaded } from '#store/nothing-loaded.ts'
import type { ReadEnd, View } from '#store/port.ts'
import type { ReadOptions } from '#store/read-port.ts'
import { underRepair } from '#store/repair-failures.ts'
import { openReader, type SqliteConnection } from './connection.ts'
import { toSqliteFailure } from './failures.ts'
import type { StoreFileGuard } from './file-guard.ts'
import { checkFingerprint } from './meta.ts'
import { createPool, deadline, type Pool } from './pool.ts'
import { inspect } from './schema.ts'
import { createSqliteView, type ReadState, readState, type Viewing } from './view.ts'

/**
 * Maximum concurrent reads; each has one connection (3 files), and further ones wait. The number exceeds that of
 * requests that may wait for a node (`gate/queues.ts`), so that requests that need no node are answered meanwhile.
 */
const READERS = 48

export type Readers = {
  /** Runs `work` in one read transaction; undefined: there is no store yet. */
  readonly readOnce: <T>(work: (connection: SqliteConnection) => T, signal?: AbortSignal) => Promise<T | undefined>
  /** `Store.read`. `isHeld`: the work lasts until the caller closes its view. */
  readonly read: <T>(work: (view: View) => Promise<T>, options?: ReadOptions & { readonly isHeld?: true }) => Promise<T>
  /** From now on the data of an unfinished repair is read, too. */
  readonly readUnrepaired: () => void
  readonly close: () => void
}

type ReadersOptions = {
  /** Throws if the file cannot be read. Called for each connection, and again when another one has committed. */
  readonly check?: CheckFile
  /** Absent: a file that replaced another one is read as if it were the first. */
  readonly kept?: StoreFileGuard
  /** Called when a read has ended; not for held views. */
  readonly onRead?: ((end: ReadEnd) => void) | undefined
}

type CheckFile = (connection: SqliteConnection, name: string) => void

/** A connection and its cached state; without a connection there is no store yet. */
type Reader = {
  readonly connection: SqliteConnection | undefined
  /**
   * SQLite's `data_version` when the file was last checked. It changes when another connection commits
   * (sqlite.org/pragma.html).
   */
  version: unknown
  /** What is known of that version. */
  state: ReadState | undefined
}

/** A read under way. `stopped` rejects with the reason given to `stop`; `late` stops the read at its deadline. */
type Reading = {
  readonly viewing: Viewing
  readonly stopped: Promise<never>
  readonly stop: (reason: Failure) => void
  readonly late: () => void
}

/** Starts the read of a reader whose transaction has begun. */
function createReading(
  reader: Reader,
  { signal, damaged }: ReadOptions,
  { name, mayReadUnrepaired }: { readonly name: string; readonly mayReadUnrepaired: boolean },
): Reading {
  if (reader.connection !== undefined) reader.state ??= readState(reader.connection)
  if (reader.connection === undefined || reader.state === undefined) throw nothingLoaded(name)
  if (reader.state.isUnderRepair && !mayReadUnrepaired) throw underRepair(name)
  if (signal?.aborted === true) throw deadline()
  const viewing = createSqliteView(reader.connection, reader.state, damaged === true)
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  const stop = (reason: Failure): void => {
    viewing.end(() => reason)
    reject(reason)
  }
  return { viewing, stopped, stop, late: () => stop(deadline()) }
}

const outlived = () => new Failure('defect', 'A view was used after its read had ended.')

const createReaderPool = (
  path: string,
  name: string,
  { closed, ...opening }: Parameters<typeof openStore>[2] & { readonly closed: () => Failure },
): Pool<Reader> =>
  createPool<Reader>({
    size: READERS,
    open: () => ({ connection: openStore(path, name, opening), version: undefined, state: undefined }),
    dispose: ({ connection }) => connection?.close(),
    isOfUse: ({ connection }) => connection?.isInPlace() === true,
    closed,
  })

/** Read connections, opened when needed. */
export function createReaders(
  path: string,
  name: string,
  { check = checkFingerprint, kept, onRead }: ReadersOptions = {},
): Readers {
  const closed = () => new Failure('unavailable', `${name} is closed.`, { retryable: false })
  let mayReadUnrepaired = false
  /** Stop functions of the reads under way. */
  const stops = new Set<(reason: Failure) => void>()
  const pool = createReaderPool(path, name, { kept, closed })
  const { begin, end } = transactions(pool, name, check)
  return {
    readOnce: async (work, signal) => {
      const reader = await pool.borrow(signal)
      begin(reader)
      try {
        return reader.connection && work(reader.connection)
      } catch (error) {
        throw toSqliteFailure(name, error)
      } finally {
        end(reader)
      }
    },
    read: async (work, { isHeld, ...options } = {}) => {
      const { signal } = options
      const since = performance.now()
      let reader: Reader | undefined
      let reading: Reading | undefined
      let failed: { readonly error: unknown } | undefined
      try {
        const borrowed = pool.takeIdle(signal) ?? (await pool.borrow(signal))
        begin(borrowed)
        reader = borrowed
        reading = createReading(reader, options, { name, mayReadUnrepaired })
        stops.add(reading.stop)
        signal?.addEventListener('abort', reading.late)
        return await Promise.race([reading.stopped, work(reading.viewing.view)])
      } catch (error) {
        failed = { error }
        throw error
      } finally {
        if (reading !== undefined) {
          reading.viewing.end(outlived)
          stops.delete(reading.stop)
          signal?.removeEventListener('abort', reading.late)
        }
        if (reader !== undefined) end(reader)
        if (isHeld !== true) onRead?.({ since, ...failed })
      }
    },
    readUnrepaired: () => {
      mayReadUnrepaired = true
    },
    close: () => {
      for (const stop of stops) stop(closed())
      pool.close()
    },
  }
}

/** `begin` starts the read transaction of a borrowed reader; `end` ends it and returns the reader to the pool. */
const transactions = (pool: Pool<Reader>, name: string, check: CheckFile) => ({
  begin: (reader: Reader): void => {
    const { connection } = reader
    if (connection === undefined) return
    try {
      connection.statement('BEGIN').run()
      const version = connection.row('PRAGMA data_version')?.[0]
      if (version === reader.version) return
      // The commit may be that of a migration, after which the tables and documents are another version's.
      check(connection, name)
      reader.version = version
      reader.state = undefined
    } catch (error) {
      pool.drop(reader)
      throw toSqliteFailure(name, error)
    }
  },
  end: (reader: Reader): void => {
    const { connection } = reader
    try {
      if (connection?.db.inTransaction) connection.statement('COMMIT').run()
    } catch {
      // The request keeps its own result; the next one opens another connection.
      pool.drop(reader)
      return
    }
    if (connection === undefined) pool.drop(reader)
    else pool.giveBack(reader)
  },
})

/** A connection to a store; undefined: there is none. */
function openStore(
  path: string,
  name: string,
  { kept }: { readonly kept: StoreFileGuard | undefined },
): SqliteConnection | undefined {
  kept?.require()
  const connection = openReader(path, name)
  if (connection === undefined) return undefined
  try {
    if (inspect(connection, name) === 'store') {
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
