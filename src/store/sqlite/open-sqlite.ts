import { mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Failure } from '#failure/failure.ts'
import { derivationDifferences } from '#store/identity.ts'
import type { Difference, Store, Writer } from '#store/port.ts'
import { openAudit } from './audit.ts'
import { type Connection, openOrCreate, openReader } from './connection.ts'
import { guarded } from './failures.ts'
import { keptFile } from './kept-file.ts'
import { keyStoreOf } from './key-store.ts'
import { getIdentity, getPublished, readableIdentity } from './meta.ts'
import { migratingOf } from './migrating.ts'
import { readersOf } from './readers.ts'
import { restoreRecord } from './restore.ts'
import { createMissing, differencesOf, everythingMissing, inspect } from './schema.ts'
import { takeOver } from './take-over.ts'
import { inTransaction, patiently } from './transaction.ts'

export type SqliteOptions = {
  /** The file; its folder is made by `create`. */
  readonly path: string
  /** Refuses everything that writes. */
  readonly readonly?: boolean
}

/**
 * A store in one SQLite file (and its -wal, -shm and .lock beside it). Opens nothing by itself: a server may start
 * before there is anything. A batch is one transaction, a read is one snapshot. What was committed survives the death of
 * the process at any moment; power loss may cost the last batches, never the consistency of what is there.
 */
export const openSqlite = ({ path: given, readonly = false }: SqliteOptions): Store => {
  const path = resolve(given)
  const name = `sqlite:${given}`
  let isMender = false
  const kept = keptFile(path, name)
  const readers = readersOf(path, name, { mayRead: () => isMender, kept })
  const anyReaders = readersOf(path, name, { check: () => {} })
  const writers = new Set<Writer>()
  let isClosed = false
  const mayWrite = () => {
    if (isClosed) throw new Failure('unavailable', `${name} is closed.`, { retryable: false })
    if (readonly) throw new Failure('conflict', `${name} is opened read-only.`)
  }
  const keys = keyStoreOf(path, name, readers)

  return {
    name,
    create: async () => {
      mayWrite()
      kept.require()
      await create(path, name)
    },
    check: async () =>
      check(path, name, connection => [
        ...differencesOf(connection),
        ...derivationDifferences(readableIdentity(connection)),
      ]),
    checkShape: async () => check(path, name, differencesOf),
    restore: async () => {
      mayWrite()
      return await restoreRecord(path, name)
    },
    published: () => readers.once(connection => getPublished(connection)),
    identity: () => readers.once(connection => getIdentity(connection)),
    read: (work, options) => readers.read(work, options?.signal),
    takeOver: async (identity, { mending = false } = {}) => {
      mayWrite()
      const writer = await takeOver({ path, name }, { identity, mending })
      isMender ||= mending
      writers.add(writer)
      return writer
    },
    audit: async () => openAudit(path, name),
    keys: {
      add: async key => {
        mayWrite()
        await keys.add(key)
      },
      list: signal => keys.list(signal),
      revoke: async (id, now) => {
        mayWrite()
        return await keys.revoke(id, now)
      },
    },
    migrating: migratingOf({
      path,
      name,
      // Another version's file, read as far as that goes.
      source: {
        published: () => anyReaders.once(connection => getPublished(connection)),
        identity: () => anyReaders.once(connection => getIdentity(connection)),
        read: (work, options) => anyReaders.read(work, options?.signal),
      },
      open: other => openSqlite({ path: other }),
    }),
    close: async () => {
      isClosed = true
      readers.close()
      anyReaders.close()
      for (const writer of writers) await writer.release()
    },
  }
}

const create = async (path: string, name: string): Promise<void> => {
  makeFolder(dirname(path), name)
  const connection = openOrCreate(path, name)
  try {
    // Asked before anything is changed: it may be another program's file.
    inspect(connection, name)
    await patiently(name, () => connection.db.run('PRAGMA journal_mode = WAL'))
    await inTransaction(connection, name, () => createMissing(connection, name))
  } finally {
    connection.close()
  }
}

const check = (
  path: string,
  name: string,
  differences: (connection: Connection) => readonly Difference[],
): readonly Difference[] => {
  const connection = openReader(path, name)
  if (connection === undefined) return everythingMissing()
  try {
    return inspect(connection, name) === 'empty'
      ? everythingMissing()
      : guarded(name, () => differences(connection))
  } finally {
    connection.close()
  }
}

const makeFolder = (folder: string, name: string): void => {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    throw new Failure('unavailable', `${name}: the folder cannot be created: ${String(error)}.`, {
      cause: error,
      retryable: false,
    })
  }
}
