import { Failure } from '#failure/failure.ts'
import { nothingLoaded } from '#store/nothing-loaded.ts'
import type { CallEnd, View } from '#store/port.ts'
import type { ReadOptions } from '#store/read-port.ts'
import { underRepair } from '#store/repair-failures.ts'
import { openReader, type SqliteConnection } from './connection.ts'
import { toSqliteFailure } from './failures.ts'
import type { StoreFileGuard } from './file-guard.ts'
import { checkFingerprint } from './meta.ts'
import { createPool, deadline, type Pool } from './pool.ts'
import { inspect } from './schema.ts'
import { createSqliteView, type ReadState, readState } from './view.ts'

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
  readonly onCall?: ((end: CallEnd) => void) | undefined
}

type CheckFile = (connection: SqliteConnection, name: string) => void

/** A connection and its cached state; without a connection there is no store yet. */
type Reader = {
  readonly connection: SqliteConnection | undefined
  /** When it was last known that the path leads to the file of the connection (`performance.now()`). */
  looked: number
  /**
   * SQLite's `data_version` when the file was last checked. It changes when another connection commits
   * (sqlite.org/pragma.html).
   */
  version: unknown
  /** What is known of that version. */
  state: ReadState | undefined
}

const outlived = () => new Failure('defect', 'A view was used after its read had ended.')

/** Milliseconds for which a look at the path counts: after that, the next read looks whether it leads to another file. */
export const LOOK_MS = 10

function isOfUse(reader: Reader): boolean {
  const now = performance.now()
  if (now - reader.looked < LOOK_MS) return true
  reader.looked = now
  return reader.connection?.isInPlace() === true
}

/** Read connections, opened when needed. */
export function createReaders(
  path: string,
  name: string,
  { check = checkFingerprint, kept, onCall }: ReadersOptions = {},
): Readers {
  const closed = () => new Failure('unavailable', `${name} is closed.`, { retryable: false })
  const pool = createPool<Reader>({
    size: READERS,
    open: () => ({
      connection: openStore(path, name, kept),
      looked: performance.now(),
      version: undefined,
      state: undefined,
    }),
    dispose: ({ connection }) => connection?.close(),
    isOfUse,
    closed,
  })
  const lender = createLender(pool, name, check)
  const shared: SharedReads = { name, onCall, mayReadUnrepaired: false, stops: new Set() }
  return {
    readOnce: async (work, signal) => {
      const reader = await lender.begin(signal)
      try {
        return reader.connection && work(reader.connection)
      } catch (error) {
        throw toSqliteFailure(name, error)
      } finally {
        lender.end(reader)
      }
    },
    read: createRead(lender, shared),
    readUnrepaired: () => {
      shared.mayReadUnrepaired = true
    },
    close: () => {
      for (const stop of shared.stops) stop(closed())
      pool.close()
    },
  }
}

type SharedReads = Pick<ReadersOptions, 'onCall'> & {
  readonly name: string
  mayReadUnrepaired: boolean
  /** Stop functions of the reads under way. */
  readonly stops: Set<(reason: Failure) => void>
}

/** `Readers.read`. */
const createRead =
  ({ begin, end }: Lender, shared: SharedReads): Readers['read'] =>
  async (work, { signal, damaged, isHeld } = {}) => {
    const { onCall, stops } = shared
    const since = performance.now()
    let close: (() => void) | undefined
    let isOver = false
    /** Ends the read, once: when the work has ended, or before, when it needs no more of the view. */
    const release = (error?: unknown): void => {
      if (isOver) return
      isOver = true
      close?.()
      if (isHeld !== true) onCall?.({ call: 'read', since, error })
    }
    try {
      const begun = begin(signal)
      const reader = begun instanceof Promise ? await begun : begun
      close = () => end(reader)
      const { connection, state } = requireReadable(reader, shared)
      if (signal?.aborted === true) throw deadline()
      const { view, end: endView } = createSqliteView(connection, state, { isDamaged: damaged === true, release })
      const { promise: stopped, reject } = Promise.withResolvers<never>()
      const stop = (reason: Failure): void => {
        endView(() => reason)
        reject(reason)
      }
      const late = (): void => stop(deadline())
      stops.add(stop)
      signal?.addEventListener('abort', late)
      close = () => {
        endView(outlived)
        stops.delete(stop)
        signal?.removeEventListener('abort', late)
        end(reader)
      }
      const value = await Promise.race([stopped, work(view)])
      release()
      return value
    } catch (error) {
      release(error)
      throw error
    }
  }

/** The connection and the state of a reader whose transaction has begun. Throws if nothing may be read. */
function requireReadable(reader: Reader, { name, mayReadUnrepaired }: SharedReads) {
  const { connection } = reader
  if (connection !== undefined) reader.state ??= readState(connection)
  const { state } = reader
  if (connection === undefined || state === undefined) throw nothingLoaded(name)
  if (state.isUnderRepair && !mayReadUnrepaired) throw underRepair(name)
  return { connection, state }
}

type Lender = ReturnType<typeof createLender>

/** `begin` lends a reader and starts its read transaction; `end` ends it and returns the reader to the pool. */
const createLender = (pool: Pool<Reader>, name: string, check: CheckFile) => {
  const begin = (reader: Reader): Reader => {
    const { connection } = reader
    if (connection === undefined) return reader
    try {
      connection.statement('BEGIN').run()
      const version = connection.row('PRAGMA data_version')?.[0]
      if (version === reader.version) return reader
      // The commit may be that of a migration, after which the tables and documents are another version's.
      check(connection, name)
      reader.version = version
      reader.state = undefined
      return reader
    } catch (error) {
      pool.drop(reader)
      throw toSqliteFailure(name, error)
    }
  }
  return {
    begin: (signal: AbortSignal | undefined): Reader | Promise<Reader> => {
      const idle = pool.takeIdle(signal)
      return idle === undefined ? pool.borrow(signal).then(begin) : begin(idle)
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
  }
}

/** A connection to a store; undefined: there is none. */
function openStore(path: string, name: string, kept: StoreFileGuard | undefined): SqliteConnection | undefined {
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
