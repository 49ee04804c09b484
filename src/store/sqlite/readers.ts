import { statSync } from 'node:fs'
import { Failure } from '#failure/failure.ts'
import { nothingLoaded, underRepair } from '#store/failures.ts'
import type { CallEnd, HeldView, Identity, ReadOptions, View } from '#store/port.ts'
import { openReader, type SqliteConnection, toSqliteFailure } from './connection.ts'
import { checkFingerprint, getIdentity } from './meta.ts'
import { inspect } from './schema.ts'
import { createSqliteView, type ReadState, readState } from './view.ts'

type StoreFileGuard = ReturnType<typeof createFileGuard>

/** The file of an open store, once it was read. A file that replaces it must be a store of the same chain. */
export function createFileGuard(path: string, name: string) {
  let kept: { readonly file: string; readonly log: string | undefined; readonly identity: Identity } | undefined
  const refuse = (what: string, help: string): never => {
    throw new Failure('unavailable', `${name} ${what}.`, { help })
  }
  return {
    /** Throws 'unavailable' when the file is gone or empty, or when its log belongs to the previous file. */
    require: (): void => {
      if (kept === undefined) return
      const file = identifyFile(path)
      if (file === undefined)
        refuse(
          'was in use and is now gone or empty',
          'Put it back, or another store of the same chain; it is used as soon as it exists. To load the chain again, restart.',
        )
      const log = identifyFile(`${path}-wal`)
      if (file !== kept.file && log !== undefined && log === kept.log)
        refuse(
          `was replaced, but ${path}-wal still belongs to the previous file`,
          `Stop the programs that use it, remove ${path}-wal and ${path}-shm, and put the file there again.`,
        )
    },
    /** Records an opened store. Throws 'unavailable' when a file of another chain has replaced the previous one. */
    take: (connection: SqliteConnection): void => {
      const identity = getIdentity(connection)
      const file = identifyFile(path)
      if (identity === undefined || file === undefined) return
      const { chainId, genesis } = kept?.identity ?? identity
      // A repair may correct the identity that the file records.
      if (kept?.file !== file && (identity.chainId !== chainId || identity.genesis !== genesis))
        refuse(
          `was replaced by a store of another chain: chain ${identity.chainId} with genesis ${identity.genesis}, before chain ${chainId} with genesis ${genesis}`,
          'Put a store of the same chain there, or restart to use this one.',
        )
      kept = { file, log: identifyFile(`${path}-wal`, 0), identity }
    },
  }
}

/** Identity of the file; undefined: no file of at least `leastBytes` bytes. */
function identifyFile(path: string, leastBytes = 1): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined || found.size < leastBytes ? undefined : `${found.dev}/${found.ino}`
}

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

/** Milliseconds for which a look at the path counts: after that, the next read looks whether it leads to another file. */
export const LOOK_MS = 10

function isOfUse(reader: Reader): boolean {
  const now = performance.now()
  if (now - reader.looked < LOOK_MS) return true
  reader.looked = now
  return reader.connection?.isInPlace() === true
}

const deadline = (): Failure => new Failure('deadline', 'The store did not respond before the deadline.')

type ReaderPoolOptions = {
  readonly path: string
  readonly name: string
  readonly check: CheckFile
  readonly kept: StoreFileGuard | undefined
  /** Maximum number of readers that are lent at a time. */
  readonly size: number
}

/** Lends a bounded number of readers, each with a begun read transaction, first come first served. */
class ReaderPool {
  private readonly options: ReaderPoolOptions
  private readonly idle: Reader[] = []
  private readonly queue = new Set<PromiseWithResolvers<void>>()
  private lent = 0
  private isClosed = false

  constructor(options: ReaderPoolOptions) {
    this.options = options
  }

  /**
   * A reader, which must be given to `end`; at once if one is idle. Throws 'deadline' when `signal` aborts first, and the
   * errors of opening and checking the file.
   */
  begin(signal: AbortSignal | undefined): Reader | Promise<Reader> {
    if (signal?.aborted === true) throw deadline()
    // A reader that was returned for a waiting caller is reserved for that caller.
    const reader = this.lent < this.options.size ? this.takeIdle() : undefined
    if (reader === undefined) return this.wait(signal)
    this.lent += 1
    return this.start(reader)
  }

  /** Ends the transaction of a reader, and takes it back. */
  end(reader: Reader): void {
    const { connection } = reader
    try {
      if (connection?.db.inTransaction) connection.statement('COMMIT').run()
    } catch {
      // The request keeps its own result; the next one opens another connection.
      this.drop(reader)
      return
    }
    if (connection === undefined || this.isClosed) this.drop(reader)
    else {
      this.idle.push(reader)
      this.free()
    }
  }

  /** Closes idle readers now, and lent ones on return. Rejects waiters and new callers. */
  close(): void {
    this.isClosed = true
    for (const waiter of this.queue) waiter.reject(closed(this.options.name))
    this.queue.clear()
    for (const { connection } of this.idle.splice(0)) connection?.close()
  }

  private async wait(signal: AbortSignal | undefined): Promise<Reader> {
    const { path, name, kept, size } = this.options
    if (this.isClosed) throw closed(name)
    if (this.lent < size) this.lent += 1
    else await this.joinQueue(signal)
    let reader: Reader
    try {
      reader = this.takeIdle() ?? {
        connection: openStore(path, name, kept),
        looked: performance.now(),
        version: undefined,
        state: undefined,
      }
    } catch (error) {
      this.free()
      throw error
    }
    return this.start(reader)
  }

  private async joinQueue(signal: AbortSignal | undefined): Promise<void> {
    const waiter = Promise.withResolvers<void>()
    const abort = (): void => {
      this.queue.delete(waiter)
      waiter.reject(deadline())
    }
    signal?.addEventListener('abort', abort)
    this.queue.add(waiter)
    try {
      await waiter.promise
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  private takeIdle(): Reader | undefined {
    for (let reader = this.idle.pop(); reader !== undefined; reader = this.idle.pop()) {
      if (isOfUse(reader)) return reader
      reader.connection?.close()
    }
    return undefined
  }

  private start(reader: Reader): Reader {
    const { connection } = reader
    if (connection === undefined) return reader
    const { check, name } = this.options
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
      this.drop(reader)
      throw toSqliteFailure(name, error)
    }
  }

  private drop({ connection }: Reader): void {
    connection?.close()
    this.free()
  }

  /** Passes a free place to the first caller in the queue. */
  private free(): void {
    const [next] = this.queue
    if (next === undefined) this.lent -= 1
    else {
      this.queue.delete(next)
      next.resolve()
    }
  }
}

const closed = (name: string): Failure => new Failure('unavailable', `${name} is closed.`, { retryable: false })

export function createReaders(
  path: string,
  name: string,
  { check = checkFingerprint, kept, onCall }: ReadersOptions = {},
): Readers {
  const of = { path, name, check, kept }
  // Each concurrent read has one connection (3 files), and further ones wait. The number exceeds that of requests that may
  // keep a view while they wait, for a node or for a ranking (46, `gate/queues.ts`), so that others are answered meanwhile.
  const brief = new ReaderPool({ ...of, size: 64 })
  // Views are held for lists that are sent whole, over minutes. They have connections of their own, so that no read waits for
  // a slow reader. As many lists may be sent: `--max-exports`, 24 at most, of keys and as many of visitors.
  const held = new ReaderPool({ ...of, size: 48 })
  const shared: SharedReads = { name, onCall, mayReadUnrepaired: false, stops: new Set() }
  return {
    readOnce: async (work, signal) => {
      const reader = await brief.begin(signal)
      try {
        return reader.connection && work(reader.connection)
      } finally {
        brief.end(reader)
      }
    },
    read: createRead({ brief, held }, shared),
    readUnrepaired: () => {
      shared.mayReadUnrepaired = true
    },
    close: () => {
      for (const stop of shared.stops) stop(closed(name))
      for (const pool of [brief, held]) pool.close()
    },
  }
}

type SharedReads = Pick<ReadersOptions, 'onCall'> & {
  readonly name: string
  mayReadUnrepaired: boolean
  readonly stops: Set<(reason: Failure) => void>
}

const createRead =
  (pools: Readonly<Record<'brief' | 'held', ReaderPool>>, shared: SharedReads): Readers['read'] =>
  async (work, { signal, damaged, isHeld } = {}) => {
    const pool = isHeld === true ? pools.held : pools.brief
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
      const begun = pool.begin(signal)
      const reader = begun instanceof Promise ? await begun : begun
      close = () => pool.end(reader)
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
        endView(() => new Failure('defect', 'A view was used after its read had ended.'))
        stops.delete(stop)
        signal?.removeEventListener('abort', late)
        pool.end(reader)
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

/** A connection to a store; undefined: there is none. */
function openStore(path: string, name: string, kept: StoreFileGuard | undefined): SqliteConnection | undefined {
  kept?.require()
  using opened = new DisposableStack()
  const connection = opened.use(openReader(path, name))
  if (connection === undefined || inspect(connection, name) === 'empty') return undefined
  kept?.take(connection)
  opened.move()
  return connection
}

type Holding = {
  readonly path: string
  readonly name: string
  readonly signal: AbortSignal | undefined
  /**
   * Size of the write-ahead log beyond which no view is held. The log cannot restart while a transaction reads from it
   * (sqlite.org/wal.html, "Checkpoint starvation"), so a held view makes it grow by all writes of a load. The default is ten
   * times the need of the longest batches.
   */
  readonly mostLogBytes?: number
}

/** One read transaction that lasts until the view is closed; it occupies a connection of the held ones. */
export async function holdView(
  { read }: Pick<Readers, 'read'>,
  { path, name, signal, mostLogBytes = 2 * 1024 ** 3 }: Holding,
): Promise<HeldView> {
  const opened = Promise.withResolvers<View>()
  const closed = Promise.withResolvers<void>()
  const requireSmallLog = (): void => {
    const { size = 0 } = statSync(`${path}-wal`, { throwIfNoEntry: false }) ?? {}
    if (size > mostLogBytes)
      throw new Failure(
        'unavailable',
        `${name}: its log has ${size} bytes, too many for a view of one height to be kept while more is written.`,
        { help: 'Retry when the load has reached the head of the chain.' },
      )
  }
  requireSmallLog()
  const reading = read(
    async view => {
      opened.resolve(view)
      await closed.promise
    },
    { signal, isHeld: true },
  )
  // Has no effect once the view exists; then the view's own reads throw.
  reading.catch(opened.reject)
  const view = await opened.promise
  return {
    view: {
      ...view,
      page: async (index, order, options) => {
        requireSmallLog()
        return view.page(index, order, options)
      },
    },
    close: closed.resolve,
  }
}
