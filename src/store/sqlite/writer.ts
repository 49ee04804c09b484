import { hash8 } from '#chain/hash.ts'
import { Failure } from '#failure/failure.ts'
import { type BlockDoc, blocks } from '#indices/block.ts'
import { blockId } from '#indices/list.ts'
import { type TransactionDoc, transactions } from '#indices/transaction.ts'
import { refuseDifferent, unfinishedRepair } from '#store/failures.ts'
import { checkIdentity } from '#store/identity.ts'
import type { BatchEnd, History, Identity, Published, RepairWriter, ReportCall, Writer } from '#store/port.ts'
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
import { mapSqliteErrors, openReader, openWriter, type SqliteConnection } from './connection.ts'
import { acquireLock, type Unlock } from './lock.ts'
import {
  formatPublished,
  getIdentity,
  getOwner,
  getPublished,
  isUnderRepair,
  type Owner,
  putIdentity,
  putOwner,
  putPublished,
  putUnderRepair,
  requireInPlace,
  requireOwn,
  runTransaction,
} from './meta.ts'
import { findSchemaDifferences, inspect } from './schema.ts'
import type { FarBatches, FarBatchesOf } from './threads/far-batches.ts'
import { findByField, getById, openStateReader, selectLastBlock } from './view.ts'

type WriteLockParts = {
  readonly name: string
  /** Writes batches; never used for reading while a transaction is open. */
  readonly writing: SqliteConnection
  /** Reads committed data, also while a batch is being written. */
  readonly reader: SqliteConnection
  readonly owner: Owner
  readonly checkpoint: Published | undefined
  readonly unlock: () => void
  readonly far: FarBatches | undefined
}

/** The right to write to a file, which only one writer has at a time, and its two connections. */
class WriteLock {
  /** End of the last committed batch; a repair, which calls `write`, sets it. */
  checkpoint: Published | undefined
  private readonly parts: WriteLockParts
  private running: Promise<void> | undefined
  private isReleased = false

  constructor(parts: WriteLockParts) {
    this.parts = parts
    this.checkpoint = parts.checkpoint
  }

  /** Throws 'conflict' after the lock was released. */
  check(): void {
    if (this.isReleased) throw new Failure('conflict', `This loader has released ${this.parts.name}.`)
  }

  async read<T>(work: (reader: SqliteConnection) => T): Promise<T> {
    this.check()
    return this.readNow(work)
  }

  /** Like `read`, also after the lock was released. */
  readNow<T>(work: (reader: SqliteConnection) => T): T {
    return mapSqliteErrors(this.parts.name, () => work(this.parts.reader))
  }

  /**
   * Runs `work` in a transaction. Throws 'defect' while another one is open, and 'conflict' when another writer took
   * over.
   */
  write(work: (writing: SqliteConnection) => void | Promise<void>): Promise<void> {
    return this.runAlone(() => this.transact(work))
  }

  /** Stores a batch that begins right after the checkpoint, by a thread if it is far from the head. Throws as `write`. */
  commit(history: History, end: BatchEnd): Promise<void> {
    const { name, writing, far } = this.parts
    return this.runAlone(async () => {
      const { checkpoint } = this
      const batch = createBatch(history, end, (checkpoint?.height ?? -1) + 1)
      checkBatch(batch, checkpoint)
      // Makes sure that the file is in place; the thread's own connection must be of the same file.
      if (far !== undefined) requireInPlace(writing, name)
      const isWritten = (await far?.commit(batch)) === true
      if (!isWritten)
        await this.transact(async () => {
          keepUndo(writing, batch, checkpoint && formatPublished(checkpoint))
          await writeBatch(writing, batch)
        })
      this.checkpoint = batch.end
    })
  }

  async release(): Promise<void> {
    if (this.isReleased) return
    this.isReleased = true
    await this.running
    await this.parts.far?.close()
    this.parts.reader.close()
    this.parts.writing.close()
    this.parts.unlock()
  }

  private transact(work: (writing: SqliteConnection) => void | Promise<void>): Promise<void> {
    const { name, writing, owner } = this.parts
    return runTransaction(writing, name, async () => {
      requireOwn(writing, name, owner)
      await work(writing)
    })
  }

  private async runAlone(work: () => Promise<void>): Promise<void> {
    this.check()
    if (this.running !== undefined) throw new Failure('defect', 'A batch is already being committed.')
    const { promise, resolve } = Promise.withResolvers<void>()
    this.running = promise
    try {
      await work()
    } finally {
      this.running = undefined
      resolve()
    }
  }
}

const createSqliteRepairWriter = (lock: WriteLock): Omit<RepairWriter, 'unfinished'> => ({
  rewrite: rewrite =>
    lock.write(writing => {
      clearUndo(writing)
      rewriteDocuments(writing, rewrite)
    }),
  shut: () => lock.write(writing => putUnderRepair(writing, true)),
  blockAt: height => lock.read(reader => getById(reader, blocks, blockId(height)) as BlockDoc | undefined),
  // Heights of the published record, of the last block, and of the last batch that can be reverted.
  endings: () =>
    lock.read(reader =>
      [getPublished(reader)?.height, selectLastBlock(reader), findUndoHeight(reader)].filter(
        height => height !== undefined,
      ),
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
  const appended = appendedHistory()
  return {
    ...createSqliteRepairWriter(lock),
    get unfinished() {
      return lock.readNow(isUnderRepair)
    },
    get checkpoint() {
      return lock.checkpoint
    },
    // Large enough to be cheap, small enough to be in memory twice: one batch being written, one being derived. A block of an
    // airdrop changes three documents of state per row.
    bounds: { documents: 20_000, bytes: 8_000_000, changes: 15_000 },
    openState: () => report('state', async () => openStateReader(work => lock.readNow(work))),
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
        await lock.commit(history, end)
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
  using opened = new DisposableStack()
  // The lock is released last.
  let unlock: Unlock | undefined
  opened.defer(() => unlock?.())
  const writing = opened.use(openWriter(path, name))
  if (writing === undefined || inspect(writing, name) === 'empty') throw notCreated(name)
  const differences = findSchemaDifferences(writing)
  refuseDifferent(name, differences)
  if (differences.length > 0) throw notCreated(name)
  unlock = acquireLock(path, name) ?? refuseSecond(writing, name)
  const reader = opened.use(openReader(path, name))
  if (reader === undefined) throw notCreated(name)
  const owner: Owner = { token: crypto.randomUUID(), pid: process.pid, since: new Date().toISOString() }
  const checkpoint = await runTransaction(writing, name, () => {
    const stored = getIdentity(writing)
    checkIdentity(name, stored, taking.identity)
    if (!taking.repair && isUnderRepair(writing)) throw unfinishedRepair(name)
    createUndo(writing)
    if (stored === undefined) putIdentity(writing, taking.identity)
    putOwner(writing, owner)
    return getPublished(writing)
  })
  const far = taking.farBatches?.({ path, name, owner, file: writing.file })
  // From here on the writer releases them.
  opened.move()
  return createWriter(new WriteLock({ name, writing, reader, owner, checkpoint, unlock, far }), taking.report)
}

const notCreated = (name: string): Failure =>
  new Failure('conflict', `${name} is not created, or only in part.`, {
    help: "Run 'iostlens indices create' first.",
  })

/** Throws 'conflict' with the process that writes to the store, if it is known. */
export function refuseSecond(connection: SqliteConnection, name: string): never {
  const owner = getOwner(connection)
  const who = owner === undefined ? '' : ` (process ${owner.pid}, since ${owner.since})`
  throw new Failure('conflict', `Another loader is writing to ${name}${who}.`, {
    help: 'Stop it first, or load into another store.',
    retryable: true,
  })
}
