import { Failure, type FailureOptions } from '#failure/failure.ts'
import type { Index } from '#indices/define.ts'
import type { Published } from '#store/port.ts'
import { clearUndo, writeDocuments } from '../commit.ts'
import { type FileMark, openWriter, type SqliteConnection, toSqliteFailure } from '../connection.ts'
import { beginBlocking, type Owner, putPublished, requireInPlace, requireOwn } from '../meta.ts'
import { requireIndex } from '../tables.ts'
import { type Pages, vacuumInto } from '../vacuum-copy.ts'

/** A file that was taken over. */
export type TakenOver = {
  readonly path: string
  readonly name: string
  readonly owner: Owner
  readonly file: FileMark
}

/** Messages to a writing thread, in this order. */
export type ToWriting =
  /** Sent once. */
  | ({ readonly type: 'open' } & TakenOver)
  | { readonly type: 'part'; readonly part: DocumentMessage }
  | { readonly type: 'commit'; readonly end: Published }
  | { readonly type: 'close' }
  /** The only message to its thread, which copies a file and ends. */
  | { readonly type: 'copy'; readonly pages: Pages }

/** Replies to a commit, a copy and `close`. */
export type FromWriting =
  | { readonly type: 'committed' }
  | { readonly type: 'failed'; readonly failure: Pick<Failure, 'kind' | 'message'> & FailureOptions }
  | { readonly type: 'closed' }
  | { readonly type: 'copied'; readonly height: number }

type FailedReply = Extract<FromWriting, { type: 'failed' }>

function formatFailure(error: unknown): FailedReply {
  if (!(error instanceof Failure)) return { type: 'failed', failure: { kind: 'defect', message: String(error) } }
  const { kind, message, help, zh, retryable, details } = error
  return { type: 'failed', failure: { kind, message, retryable, details, help, zh } }
}

export const parseFailure = ({ failure: { kind, message, ...rest } }: FailedReply): Failure =>
  new Failure(kind, message, rest)

/**
 * Documents of one index in a message between threads, column by column: a structured clone of a few long arrays costs
 * some 0.6 times as much as one of as many objects.
 */
type DocumentMessage = {
  readonly index: string
  readonly documents: number
  /** The values of each field, in the order of the documents; undefined: the document has none. */
  readonly columns: readonly (readonly [field: string, values: readonly unknown[]])[]
}

type Doc = Readonly<Record<string, unknown>>

export const packDocuments = (index: Index, docs: readonly object[]): DocumentMessage => ({
  index: index.name,
  documents: docs.length,
  columns: ['id', ...Object.keys(index.fields)].map(field => [field, (docs as readonly Doc[]).map(doc => doc[field])]),
})

function unpackDocuments({ documents, columns }: DocumentMessage): readonly object[] {
  const docs = Array.from({ length: documents }, (): Record<string, unknown> => ({}))
  for (const [field, values] of columns)
    for (const [at, doc] of docs.entries()) if (values[at] !== undefined) doc[field] = values[at]
  return docs
}

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
      return formatFailure(error)
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
function openBatchFile(target: TakenOver) {
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
  return {
    /** Writes a part; `commit` throws its errors. */
    add: (part: DocumentMessage) =>
      attempt(writing => writeDocuments(writing, requireIndex(part.index), unpackDocuments(part))),
    /** Publishes the batch. Throws if any part could not be written; then nothing is stored. */
    commit: (published: Published): void => {
      attempt(writing => {
        requireInPlace(writing, name)
        putPublished(writing, published)
        end('COMMIT')
      })
      if (failure === undefined) return
      const { error } = failure
      end('ROLLBACK')
      throw error
    },
    close: (): void => {
      end('ROLLBACK')
      // Otherwise the main thread's next short commit would run the checkpoint.
      connection?.db.run('PRAGMA wal_checkpoint(PASSIVE)')
      connection?.close()
    },
  }
}

function openTarget({ path, name, file }: TakenOver): SqliteConnection {
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
