import { dirname, resolve } from 'node:path'
import { Failure, getErrorMessage } from '#failure/failure.ts'
import { type BlockDoc, blocks } from '#indices/block.ts'
import { blockId, transactionId } from '#indices/list.ts'
import type { AnyIndex } from '#indices/registry.ts'
import { STATISTICS, type StatisticsDoc, statistics } from '#indices/statistics.ts'
import { type TransactionDoc, transactions } from '#indices/transaction.ts'
import { derivationDifferences, rebuildIdentity } from '#store/identity.ts'
import type { RestoreOutcome } from '#store/maintain-port.ts'
import { createFolder, describeRefusal, readDisk } from '#store/own-files.ts'
import {
  type CallEnd,
  createReports,
  type ReportCall,
  type Store,
  type StoreDifference,
  type Writer,
} from '#store/port.ts'
import { openAudit } from './audit.ts'
import { copyStore } from './backup.ts'
import { findUndoHeight } from './commit.ts'
import { openOrCreate, openReader, openWriter, type SqliteConnection, undefinedIfDamaged } from './connection.ts'
import { createKeyStore } from './keys.ts'
import { acquireLock } from './lock.ts'
import {
  checkVersion,
  getIdentity,
  getPublished,
  putIdentity,
  putPublished,
  putUnderRepair,
  readableIdentity,
  retryWhileBusy,
  runTransaction,
} from './meta.ts'
import { createSqliteMigration } from './migration.ts'
import { createFileGuard, createReaders, holdView, type Readers } from './readers.ts'
import { noteLayout } from './rows.ts'
import { createMissing, findSchemaDifferences, inspect, listEverythingMissing } from './schema.ts'
import { getTable, quoteIdentifier } from './tables.ts'
import { farBatches, type WritingThreads } from './threads/far-batches.ts'
import { getUsagePath, openSqliteUsage } from './usage.ts'
import { getById, selectLastBlock } from './view.ts'
import { refuseSecond, takeOverStore } from './writer.ts'

type SqliteOptions = {
  /** Path of the file; `create` makes its folder. */
  readonly path: string
  readonly readonly?: boolean
  /** Opens threads that write the batches of long loads; absent: this thread writes all batches. */
  readonly writing?: WritingThreads | undefined
  readonly onCall?: ((end: CallEnd) => void) | undefined
  /** The only derivation whose documents are read, for tests. Default: that of this version. */
  readonly derivation?: number
}

/**
 * A store in one SQLite file (with -wal, -shm and .lock files beside it). Nothing is opened before the first
 * call, so a server may start before the file exists. A batch is one transaction, a read is one snapshot.
 * Committed batches survive the death of the process at any moment; power loss may cost the last batches,
 * never the consistency of the rest.
 */
export function openSqlite({ path: given, readonly = false, writing, onCall, derivation }: SqliteOptions): Store {
  const path = resolve(given)
  const name = `sqlite:${given}`
  const kept = createFileGuard(path, name)
  const check = (connection: SqliteConnection) => checkVersion(connection, name, derivation)
  const readers = createReaders(path, name, { check, kept, onCall })
  // For keys and the chain's identity, which are the same in each derivation.
  const recordReaders = createReaders(path, name, { kept })
  // For files of any version, which are read as far as possible.
  const anyReaders = createReaders(path, name, { check: noteLayout })
  const report = createReports(onCall)
  const usage = openSqliteUsage(getUsagePath(path), path)
  // The lock of the file admits one writer at a time.
  let writer: Writer | undefined
  const far = writing && farBatches(writing)
  let isClosed = false
  const mayWrite = () => {
    if (isClosed) throw new Failure('unavailable', `${name} is closed.`, { retryable: false })
    if (readonly) throw new Failure('conflict', `${name} is opened read-only.`)
  }

  return {
    name,
    create: async () => {
      mayWrite()
      kept.require()
      await create(path, name)
    },
    ...createChecks(path, name),
    restore: async () => {
      mayWrite()
      return await restoreRecord(path, name)
    },
    ...createStoreReads(readers, { path, name, report }),
    identity: () => report('identity', () => recordReaders.readOnce(connection => getIdentity(connection))),
    takeOver: (identity, { repair = false } = {}) =>
      report('takeOver', async () => {
        mayWrite()
        writer = await takeOverStore({ path, name }, { identity, repair, farBatches: far, report })
        if (repair) readers.readUnrepaired()
        return writer
      }),
    audit: async () => openAudit(path, name),
    backup: (file, how) => copyStore({ path, name, open: writing?.open }, file, how),
    keys: createKeyStore({ path, name }, recordReaders, mayWrite),
    usage,
    migrating: createSqliteMigration({
      path,
      name,
      source: createStoreReads(anyReaders, { path, name, report }),
      open: other => openSqlite({ path: other }),
    }),
    close: async () => {
      isClosed = true
      for (const each of [readers, recordReaders, anyReaders]) each.close()
      await usage.close()
      await writer?.release()
    },
  }
}

const createChecks = (path: string, name: string): Pick<Store, 'check' | 'checkShape' | 'disks'> => ({
  check: async () =>
    compare(path, name, connection => [
      ...findSchemaDifferences(connection),
      ...derivationDifferences(readableIdentity(connection)),
    ]),
  checkShape: async () => compare(path, name, findSchemaDifferences),
  disks: async () => [readDisk(dirname(path))],
})

const createStoreReads = (
  readers: Readers,
  { path, name, report }: { readonly path: string; readonly name: string; readonly report: ReportCall },
): Pick<Store, 'published' | 'identity' | 'read' | 'hold'> => ({
  published: () => report('published', () => readers.readOnce(connection => getPublished(connection))),
  identity: () => readers.readOnce(connection => getIdentity(connection)),
  read: readers.read,
  hold: ({ signal }) => report('hold', () => holdView(readers, { path, name, signal })),
})

async function create(path: string, name: string): Promise<void> {
  const folder = dirname(path)
  try {
    createFolder(folder)
  } catch (error) {
    throw new Failure('unavailable', `${name}: the folder cannot be created: ${getErrorMessage(error)}.`, {
      cause: error,
      retryable: false,
      help: `${describeRefusal(folder) ?? 'Set --store to a file in a folder that this user may create'}.`,
    })
  }
  using connection = openOrCreate(path, name)
  // Runs before anything is changed, because the file may be another program's.
  inspect(connection, name)
  await retryWhileBusy(name, () => connection.db.run('PRAGMA journal_mode = WAL'))
  await runTransaction(connection, name, () => createMissing(connection, name))
}

function compare(
  path: string,
  name: string,
  differences: (connection: SqliteConnection) => readonly StoreDifference[],
): readonly StoreDifference[] {
  using connection = openReader(path, name)
  return connection === undefined || inspect(connection, name) === 'empty'
    ? listEverythingMissing()
    : differences(connection)
}

/**
 * Rewrites the record of the last block and the chain if it is lost or cannot be read. A batch is one
 * transaction, so the last stored block is the end. If that is not certain, the store is closed to all but a
 * repair, which derives the state again.
 */
async function restoreRecord(path: string, name: string): Promise<RestoreOutcome> {
  using connection = openWriter(path, name)
  if (connection === undefined || inspect(connection, name) === 'empty') return 'whole'
  const isLost = (read: (from: SqliteConnection) => unknown): boolean =>
    // A record that was never written is undefined, but not lost.
    undefinedIfDamaged(() => [read(connection)]) === undefined
  const lost = { identity: isLost(getIdentity), published: isLost(getPublished) }
  if (!lost.identity && !lost.published) return 'whole'
  const unlock = acquireLock(path, name) ?? refuseSecond(connection, name)
  try {
    return await runTransaction(connection, name, () => writeAnew(connection, name, lost))
  } finally {
    unlock()
  }
}

function writeAnew(
  connection: SqliteConnection,
  name: string,
  lost: { readonly identity: boolean; readonly published: boolean },
): RestoreOutcome {
  const get = (index: AnyIndex, id: string) => getById(connection, index, id)
  if (lost.identity)
    putIdentity(
      connection,
      rebuildIdentity(name, {
        first: get(blocks, blockId(0)) as BlockDoc | undefined,
        second: get(blocks, blockId(1)) as BlockDoc | undefined,
        transaction: get(transactions, transactionId(0, 0)) as TransactionDoc | undefined,
      }),
    )
  if (!lost.published) return 'exact'
  const last = get(blocks, blockId(selectLastBlock(connection) ?? 0)) as BlockDoc | undefined
  if (last === undefined)
    throw new Failure('damaged', `${name} has a record of its last block that cannot be read, and no block.`, {
      help: 'Nothing in it can be restored. Remove the file and load it again.',
    })
  const { height, hash, time } = last
  putPublished(connection, { height, hash, time, lib: height })
  // Whether all blocks are stored, with as many transactions as were counted while loading.
  const countRows = (index: AnyIndex): number =>
    Number(connection.row(`SELECT count(*) FROM ${quoteIdentifier(getTable(index).name)}`)?.[0])
  const isAllCounted = (): boolean => {
    const counted = get(statistics, STATISTICS) as StatisticsDoc | undefined
    return countRows(blocks) === height + 1 && countRows(transactions) === counted?.transaction_count
  }
  if (findUndoHeight(connection) === height || isAllCounted()) return 'exact'
  putUnderRepair(connection, true)
  return 'open'
}
