import { Failure } from '#failure/failure.ts'
import { type AnyIndex, historyIndices, stateIndices } from '#indices/registry.ts'
import type { Published } from '#store/port.ts'
import { clearUndo, historyRows, upsert } from '../commit.ts'
import { type FileMark, openWriter, type SqliteConnection, toSqliteFailure } from '../connection.ts'
import { beginBlocking, type Owner, putPublished, requireInPlace, requireOwn } from '../meta.ts'
import { createTable } from '../tables.ts'
import { type Pages, vacuumInto } from '../vacuum-copy.ts'
import { type DocumentMessage, type FailureMessage, failureMessage, unpackDocuments } from './messages.ts'

/** Messages to a writing thread, in this order; dropped parts are not written. */
export type ToWriting =
  /** Sent once. `file`: the file that was taken over. */
  | {
      readonly type: 'open'
      readonly path: string
      readonly name: string
      readonly owner: Owner
      readonly file: FileMark
    }
  | { readonly type: 'part'; readonly part: DocumentMessage }
  | { readonly type: 'drop' }
  | { readonly type: 'commit'; readonly end: Published }
  | { readonly type: 'close' }
  /** The only message to its thread, which copies a file and ends. */
  | { readonly type: 'copy'; readonly pages: Pages }

/** Replies to a commit, a copy and `close`. */
export type FromWriting =
  | { readonly type: 'committed' }
  | { readonly type: 'failed'; readonly failure: FailureMessage }
  | { readonly type: 'closed' }
  | { readonly type: 'copied'; readonly height: number }

const indices = new Map<string, AnyIndex>([...historyIndices, ...stateIndices].map(index => [index.name, index]))

/**
 * Handles the messages of a thread that writes batches to one file. Each batch is one transaction, stored
 * whole or not at all.
 */
export function writeInThread(answer: (message: FromWriting) => void): (message: ToWriting) => void {
  let file: ReturnType<typeof openBatchFile> | undefined
  const opened = () => {
    if (file === undefined) throw new Failure('defect', 'A thread received a batch before it had a file.')
    return file
  }
  const orFailure = (work: () => FromWriting): FromWriting => {
    try {
      return work()
    } catch (error) {
      return { type: 'failed', failure: failureMessage(error) }
    }
  }
  return message => {
    switch (message.type) {
      case 'open':
        file = openBatchFile(message)
        return
      case 'part':
        opened().add(message.part)
        return
      case 'drop':
        opened().drop()
        return
      case 'commit':
        answer(
          orFailure(() => {
            opened().commit(message.end)
            return { type: 'committed' }
          }),
        )
        return
      case 'copy':
        answer(orFailure(() => ({ type: 'copied', height: vacuumInto(message.pages) })))
        return
      case 'close':
        file?.close()
        answer({ type: 'closed' })
    }
  }
}

/**
 * A file to which batches are written sequentially. The transaction of a batch begins with its first part. The thread
 * writes while the next block is derived and the other parts are packed, so that little is left to wait for at the end.
 */
function openBatchFile(target: Target) {
  const { name, owner } = target
  let connection: SqliteConnection | undefined
  let hasBegun = false
  let failure: { readonly error: unknown } | undefined

  const begin = (): SqliteConnection => {
    connection ??= openTarget(target)
    if (hasBegun) return connection
    beginBlocking(connection, name)
    hasBegun = true
    requireOwn(connection, name, owner)
    // Only batches far from the head are written here, and these are not kept for reverting.
    clearUndo(connection)
    return connection
  }
  const end = (how: 'COMMIT' | 'ROLLBACK'): void => {
    // SQLite may already have rolled back (disk full, I/O error).
    if (connection?.db.inTransaction) connection.db.run(how)
    hasBegun = false
    failure = undefined
  }
  const attempt = (work: (writing: SqliteConnection) => void): void => {
    if (failure !== undefined) return
    try {
      work(begin())
    } catch (error) {
      failure = { error: toSqliteFailure(name, error) }
    }
  }
  const drop = () => end('ROLLBACK')
  return {
    /** Writes a part; `commit` throws its errors. */
    add: (part: DocumentMessage) => attempt(writing => writePart(writing, part)),
    /** Rolls back the added parts. */
    drop,
    /** Publishes the batch. Throws if any part could not be written; then nothing is stored. */
    commit: (published: Published): void => {
      attempt(writing => {
        requireInPlace(writing, name)
        putPublished(writing, published)
        end('COMMIT')
      })
      if (failure === undefined) return
      const { error } = failure
      drop()
      throw error
    },
    close: (): void => {
      drop()
      // Otherwise the main thread's next short commit would run the checkpoint.
      connection?.db.run('PRAGMA wal_checkpoint(PASSIVE)')
      connection?.close()
    },
  }
}

type Target = Omit<Extract<ToWriting, { type: 'open' }>, 'type'>

function openTarget({ path, name, file }: Target): SqliteConnection {
  const opened = openWriter(path, name)
  if (opened === undefined || opened.file.ino !== file.ino || opened.file.dev !== file.dev) {
    opened?.close()
    throw new Failure('conflict', `${name} was removed or replaced during loading.`)
  }
  // Pages of the log after which a commit runs a checkpoint, 64 MB. A batch changes about one page per list and transaction,
  // all over the file. A checkpoint after each batch, SQLite's default, would write and sync each of these pages every time.
  opened.db.run('PRAGMA wal_autocheckpoint = 16000')
  return opened
}

function writePart(writing: SqliteConnection, part: DocumentMessage): void {
  const index = indices.get(part.index)
  if (index === undefined) throw new TypeError(`No index is named ${part.index}.`)
  if (index.kind === 'history') {
    const rows = historyRows(writing, index)
    for (const doc of unpackDocuments(index, part)) rows.add(doc)
    rows.end()
    return
  }
  const table = createTable(index)
  for (const doc of unpackDocuments(index, part)) upsert(writing, table, doc)
}
