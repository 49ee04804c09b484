import { hash8 } from '#chain/hash.ts'
import { type TransactionDoc, transactions } from '#indices/transaction.ts'
import type { History, Writer } from '#store/port.ts'
import type { ReportCall } from '#store/read-port.ts'
import { appendedHistory, type BatchBounds, checkBatch, createBatch, NOTHING_FILLED } from '../batch.ts'
import { writeBatch } from './commit.ts'
import type { SqliteConnection } from './connection.ts'
import { toText } from './meta.ts'
import { findByField } from './read.ts'
import { createSqliteRepairWriter } from './repair.ts'
import { openStateReader } from './state-reader.ts'
import { keepUndo } from './undo.ts'
import type { WriteLock } from './write-lock.ts'

/**
 * Large enough to be cheap, small enough to be in memory twice: one batch being written, one being derived. A
 * block of an airdrop changes three documents of state per row.
 */
const BOUNDS: BatchBounds = { documents: 20_000, bytes: 8_000_000, changes: 15_000 }

const NO_HISTORY: History = { blocks: [], transactions: [], records: [], filling: NOTHING_FILLED }

export function createWriter(lock: WriteLock, report: ReportCall): Writer {
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
    bounds: BOUNDS,
    openState: () => report('state', async () => openStateReader(lock.readNow)),
    transactionsOf: hashes =>
      report('state', async () =>
        lock.read(reader => snapshot(reader, () => hashes.flatMap(createTransactionFinder(reader)))),
      ),
    append: history =>
      report('append', async () => {
        lock.check()
        appended.add(history)
      }),
    commit: end =>
      report('commit', async () => {
        lock.check()
        const history = appended.take() ?? NO_HISTORY
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

/** Runs several statements on the same snapshot. */
function snapshot<T>({ db }: SqliteConnection, work: () => T): T {
  db.run('BEGIN')
  try {
    return work()
  } finally {
    db.run('COMMIT')
  }
}

const createTransactionFinder =
  (reader: SqliteConnection) =>
  (hash: string): readonly TransactionDoc[] => {
    const found = findByField(reader, transactions, { field: 'hash8', value: hash8(hash) })
    return (found as readonly TransactionDoc[]).filter(doc => doc.hash === hash)
  }
