import { hash8 } from '#chain/hash.ts'
import { Failure } from '#failure/failure.ts'
import { type BlockDoc, blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import { type TransactionDoc, transactions } from '#indices/transaction.ts'
import { refuseDifferent, unfinishedRepair } from '#store/failures.ts'
import { checkIdentity } from '#store/identity.ts'
import type { Batch, Identity, Published, RepairWriter, ReportCall, Writer } from '#store/port.ts'
import { appendedHistory, checkBatch, createBatch, NOTHING_FILLED } from '../batch.ts'
import {
  clearUndo,
  createUndo,
  deleteHistory,
  findUndoHeight,
  keepUndo,
  rewriteDocuments,
  takeBack,
  writeBatch,
} from './commit.ts'
import { guarded, openReader, openWriter, type SqliteConnection } from './connection.ts'
import { acquireLock } from './lock.ts'
import {
  getIdentity,
  getOwner,
  getPublished,
  inTransaction,
  isUnderRepair,
  type Owner,
  putIdentity,
  putOwner,
  putPublished,
  putUnderRepair,
  requireInPlace,
  requireOwn,
  toText,
} from './meta.ts'
import { findByField, getById, lastBlock, openStateReader } from './read.ts'
import { findSchemaDifferences, inspect } from './schema.ts'
import type { FarBatches, FarBatchesOf } from './threads/far-batches.ts'

type WriteLockParts = {
  readonly name: string
  /** Writes batches; never used for reading while a transaction is open. */
  readonly writing: SqliteConnection
  /** Reads committed data, also while a batch is being written. */
  readonly reader: SqliteConnection
  readonly owner: Owner
  readonly checkpoint: Published | undefined
  readonly unlock: () => void
  /** Absent: no thread writes batches. */
  readonly far: FarBatches | undefined
}

/** The right to write to a file, which only one writer has at a time, and its two connections. */
type WriteLock = {
  /** End of the last committed batch; the caller of `write` sets it. */
  checkpoint: Published | undefined
  readonly isWriting: boolean
  /** Throws 'conflict' after the lock was released. */
  check(): void
  /** Reads committed data. */
  read<T>(work: (reader: SqliteConnection) => T): Promise<T>
  /** Like `read`, also after the lock was released. */
  readNow<T>(work: (reader: SqliteConnection) => T): T
  /**
   * Runs `work` in a transaction. Throws 'defect' while another one is open, and 'conflict' when another
   * writer took over.
   */
  write(work: (writing: SqliteConnection) => void | Promise<void>): Promise<void>
  /** Lets a thread write a batch, with the same errors. false: the caller must use `write`. */
  writeFar(batch: Batch): Promise<boolean>
  release(): Promise<void>
}

function createWriteLock(parts: WriteLockParts): WriteLock {
  const { name, writing, reader, owner, unlock, far } = parts
  let { checkpoint } = parts
  const commits = oneAtATime()
  let released = false
  const check = (): void => {
    if (released) throw new Failure('conflict', `This loader has released ${name}.`)
  }
  return {
    get checkpoint() {
      return checkpoint
    },
    set checkpoint(end) {
      checkpoint = end
    },
    get isWriting() {
      return commits.running() !== undefined
    },
    check,
    read: async work => {
      check()
      return guarded(name, () => work(reader))
    },
    readNow: work => guarded(name, () => work(reader)),
    write: async work => {
      check()
      const end = commits.begin()
      try {
        await inTransaction(writing, name, async () => {
          requireOwn(writing, name, owner)
          await work(writing)
        })
      } finally {
        end()
      }
    },
    writeFar: async batch => {
      if (far === undefined) return false
      check()
      const end = commits.begin()
      try {
        // Makes sure that the file is in place; the thread's own connection must be of the same file.
        requireInPlace(writing, name)
        return await far.commit(batch)
      } finally {
        end()
      }
    },
    release: async () => {
      if (released) return
      released = true
      await commits.running()
      await far?.close()
      reader.close()
      writing.close()
      unlock()
    },
  }
}

/** Admits one batch at a time. */
function oneAtATime() {
  let running: Promise<unknown> | undefined
  return {
    running: () => running,
    /** Marks a batch's start; the returned function marks its end. Throws 'defect' while another batch is open. */
    begin: (): (() => void) => {
      if (running !== undefined) throw new Failure('defect', 'A batch is already being committed.')
      const { promise, resolve } = Promise.withResolvers<void>()
      running = promise
      return () => {
        running = undefined
        resolve()
      }
    },
  }
}

/** The part of the writer that only repairs use. */
const createSqliteRepairWriter = (lock: WriteLock): RepairWriter => ({
  rewrite: rewrite =>
    lock.write(writing => {
      clearUndo(writing)
      rewriteDocuments(writing, rewrite)
    }),
  get unfinished() {
    return lock.readNow(isUnderRepair)
  },
  shut: () => lock.write(writing => putUnderRepair(writing, true)),
  blockAt: height => lock.read(reader => getById(reader, blocks, blockId(height)) as BlockDoc | undefined),
  // Heights of the published record, of the last block, and of the last batch that can be reverted.
  endings: () =>
    lock.read(reader =>
      [getPublished(reader)?.height, lastBlock(reader), findUndoHeight(reader)].filter(height => height !== undefined),
    ),
  takeBack: async height => {
    let end: Published | undefined
    await lock.write(writing => {
      end = takeBack(writing, height)
      if (end !== undefined) putUnderRepair(writing, false)
    })
    lock.checkpoint = end ?? lock.checkpoint
    return end
  },
  settle: async ({ identity, end, open }) => {
    await lock.write(writing => {
      // The kept batches must end at the new end.
      if (findUndoHeight(writing) !== end.height) clearUndo(writing)
      deleteHistory(writing, end.height)
      putIdentity(writing, identity)
      putPublished(writing, end)
      putUnderRepair(writing, !open)
    })
    lock.checkpoint = end
  },
})

function createWriter(lock: WriteLock, report: ReportCall): Writer {
  const repair = createSqliteRepairWriter(lock)
  const appended = appendedHistory()
  return {
    ...repair,
    get unfinished() {
      return repair.unfinished
    },
    get checkpoint() {
      return lock.checkpoint
    },
    // Large enough to be cheap, small enough to be in memory twice: one batch being written, one being derived. A block of an
    // airdrop changes three documents of state per row.
    bounds: { documents: 20_000, bytes: 8_000_000, changes: 15_000 },
    openState: () => report('state', async () => openStateReader(lock.readNow)),
    transactionsOf: hashes =>
      report('state', async () =>
        lock.read(reader => {
          // All of the same snapshot.
          reader.db.run('BEGIN')
          try {
            return hashes.flatMap(hash => {
              const found = findByField(reader, transactions, { field: 'hash8', value: hash8(hash) })
              return (found as readonly TransactionDoc[]).filter(doc => doc.hash === hash)
            })
          } finally {
            reader.db.run('COMMIT')
          }
        }),
      ),
    append: history =>
      report('append', async () => {
        lock.check()
        appended.add(history)
      }),
    commit: end =>
      report('commit', async () => {
        lock.check()
        const history = appended.take() ?? { blocks: [], transactions: [], records: [], filling: NOTHING_FILLED }
        const batch = createBatch(history, end, (lock.checkpoint?.height ?? -1) + 1)
        if (!lock.isWriting) checkBatch(batch, lock.checkpoint)
        if (!(await lock.writeFar(batch)))
          await lock.write(async writing => {
            keepUndo(writing, batch, lock.checkpoint && toText(lock.checkpoint))
            await writeBatch(writing, batch)
          })
        lock.checkpoint = batch.end
      }),
    release: () => lock.release(),
  }
}

type Taking = {
  readonly identity: Identity
  readonly repair: boolean
  readonly farBatches: FarBatchesOf | undefined
  readonly report: ReportCall
}

/** Opens the store for exclusive writing, see `Store.takeOver`. */
export async function takeOverStore(
  { path, name }: { readonly path: string; readonly name: string },
  taking: Taking,
): Promise<Writer> {
  const writing = openWriter(path, name)
  const release = { lock: () => {}, reader: () => {} }
  try {
    if (writing === undefined || inspect(writing, name) === 'empty') throw notCreated(name)
    const differences = guarded(name, () => findSchemaDifferences(writing))
    refuseDifferent(name, differences)
    if (differences.length > 0) throw notCreated(name)
    const unlock = acquireLock(path, name) ?? refuseSecond(writing, name)
    release.lock = unlock
    const reader = openReader(path, name)
    if (reader === undefined) throw notCreated(name)
    release.reader = reader.close
    const owner: Owner = { token: crypto.randomUUID(), pid: process.pid, since: new Date().toISOString() }
    const checkpoint = await inTransaction(writing, name, () => {
      const stored = getIdentity(writing)
      checkIdentity(name, stored, taking.identity)
      if (!taking.repair && isUnderRepair(writing)) throw unfinishedRepair(name)
      createUndo(writing)
      if (stored === undefined) putIdentity(writing, taking.identity)
      putOwner(writing, owner)
      return getPublished(writing)
    })
    const far = taking.farBatches?.({ path, name, owner, file: writing.file })
    return createWriter(createWriteLock({ name, writing, reader, owner, checkpoint, unlock, far }), taking.report)
  } catch (error) {
    release.reader()
    writing?.close()
    release.lock()
    throw error
  }
}

const notCreated = (name: string): Failure =>
  new Failure('conflict', `${name} is not created, or only in part.`, {
    help: "Run 'iostlens indices create' first.",
  })

/** Throws 'conflict' with the process that writes to the store, if it is known. */
export function refuseSecond(connection: SqliteConnection, name: string): never {
  const owner = guarded(name, () => getOwner(connection))
  const who = owner === undefined ? '' : ` (process ${owner.pid}, since ${owner.since})`
  throw new Failure('conflict', `Another loader is writing to ${name}${who}.`, {
    help: 'Stop it first, or load into another store.',
    retryable: true,
  })
}
