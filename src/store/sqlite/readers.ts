import { Failure } from '#failure/failure.ts'
import { nothingLoaded } from '#store/nothing-loaded.ts'
import type { ReadPort } from '#store/read-port.ts'
import { underRepair } from '#store/repair-failures.ts'
import { type Connection, openReader } from './connection.ts'
import { guarded, toFailure } from './failures.ts'
import type { KeptFile } from './kept-file.ts'
import { checkFingerprint } from './meta.ts'
import { deadline, type Pool, poolOf } from './pool.ts'
import { inspect } from './schema.ts'
import { type ReadState, readState, viewOf } from './view.ts'

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
  /** From now on what a repair has left half done is read, too. */
  readonly readUnrepaired: () => void
  readonly close: () => void
}

type ReadersOptions = {
  /** Throws for a file that cannot be read. */
  readonly check?: typeof checkFingerprint
  /** Absent: a file that another one replaced is read as if it were the first. */
  readonly kept?: KeptFile
}

/** A connection and what it has read; without a connection there is no store yet. */
type Reader = { readonly connection: Connection | undefined; state: ReadState | undefined }

/** Connections that read, opened when needed. */
export const readersOf = (
  path: string,
  name: string,
  { check = checkFingerprint, kept }: ReadersOptions = {},
): Readers => {
  const closed = () => new Failure('unavailable', `${name} is closed.`, { retryable: false })
  let mayReadUnrepaired = false
  /** Ends the reads that are under way. */
  const stops = new Set<(reason: Failure) => void>()
  const pool = poolOf<Reader>({
    size: READERS,
    open: () => ({ connection: openStore(path, name, { check, kept }), state: undefined }),
    dispose: ({ connection }) => connection?.close(),
    isOfUse: ({ connection }) => connection?.isInPlace() === true,
    closed,
  })
  const { begin, end } = transactions(pool, name)
  return {
    once: async (work, signal) => {
      const reader = await begin(signal)
      try {
        return reader.connection && work(reader.connection)
      } catch (error) {
        throw toFailure(name, error)
      } finally {
        end(reader)
      }
    },
    read: async (work, { signal, damaged: isDamaged = false } = {}) => {
      const reader = await begin(signal)
      const { stopped, stop, reason } = stopping()
      const late = (): void => stop(deadline())
      try {
        reader.state = reader.connection && readState(reader.connection, reader.state)
        if (reader.connection === undefined || reader.state === undefined) throw nothingLoaded(name)
        if (reader.state.isUnderRepair && !mayReadUnrepaired) throw underRepair(name)
        const viewing = viewOf(reader.connection, { ...reader.state, isDamaged })
        stops.add(stop)
        signal?.addEventListener('abort', late)
        if (signal?.aborted === true) late()
        try {
          return await Promise.race([stopped, work(viewing.view)])
        } finally {
          viewing.end(() => reason() ?? new Failure('defect', 'A view was used after its read had ended.'))
        }
      } finally {
        stops.delete(stop)
        signal?.removeEventListener('abort', late)
        end(reader)
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

/** `begin` borrows a reader for a read transaction, `end` gives it back. */
const transactions = (pool: Pool<Reader>, name: string) => ({
  begin: async (signal: AbortSignal | undefined): Promise<Reader> => {
    const reader = await pool.borrow(signal)
    try {
      reader.connection?.statement('BEGIN').run()
      return reader
    } catch (error) {
      pool.drop(reader)
      throw toFailure(name, error)
    }
  },
  end: (reader: Reader): void => {
    const { connection } = reader
    try {
      if (connection?.db.inTransaction) connection.statement('COMMIT').run()
    } catch {
      // The request keeps its own result, and the next one opens another connection.
      pool.drop(reader)
      return
    }
    if (connection === undefined) pool.drop(reader)
    else pool.giveBack(reader)
  },
})

/** `stopped` rejects with the first failure that `stop` is called with; `reason` is that failure. */
const stopping = () => {
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  let first: Failure | undefined
  const stop = (failure: Failure): void => {
    first ??= failure
    reject(first)
  }
  return { stopped, stop, reason: () => first }
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
