import { Failure } from '#failure/failure.ts'
import { type AnyIndex, historyIndices, stateIndices } from '#indices/registry.ts'
import type { Published } from '#store/port.ts'
import { historyRows, upsert } from '../commit.ts'
import { type Connection, type FileMark, openWriter } from '../connection.ts'
import { copied, type Pages } from '../copied.ts'
import { type Owner, putPublished } from '../meta.ts'
import { tableOf } from '../tables.ts'
import { inTransaction, requireOwn } from '../transaction.ts'
import { clearUndo } from '../undo.ts'
import { type DocumentMessage, unpacked } from './document-message.ts'
import { type Crossed, crossed } from './failure-message.ts'

/** Messages to a thread that writes, in this order; parts that were dropped are not written. */
export type ToWriting =
  /** Once. `file`: the one that was taken over. */
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
  /** Alone: it copies a file and ends. */
  | { readonly type: 'copy'; readonly pages: Pages }

/** Its replies to a commit, a copy and `close`. */
export type FromWriting =
  | { readonly type: 'committed' }
  | { readonly type: 'failed'; readonly failure: Crossed }
  | { readonly type: 'closed' }
  | { readonly type: 'copied'; readonly height: number }

const indices = new Map<string, AnyIndex>(
  [...historyIndices, ...stateIndices].map(index => [index.name, index]),
)

/** The work of a thread that writes whole batches to one file. Each is one transaction, or nothing of it is stored. */
export const writeInThread = (answer: (message: FromWriting) => void): ((message: ToWriting) => void) => {
  let target: Target | undefined
  let parts: DocumentMessage[] = []
  const commit = async (end: Published): Promise<void> => {
    const taken = parts
    parts = []
    try {
      if (target === undefined)
        throw new Failure('defect', 'A thread was told to commit before it had a file.')
      await writeParts(target, taken, end)
      answer({ type: 'committed' })
    } catch (error) {
      answer({ type: 'failed', failure: crossed(error) })
    }
  }
  const copy = (pages: Pages): void => {
    try {
      answer({ type: 'copied', height: copied(pages) })
    } catch (error) {
      answer({ type: 'failed', failure: crossed(error) })
    }
  }
  return message => {
    switch (message.type) {
      case 'open':
        target = { ...message, opened: undefined }
        return
      case 'part':
        parts.push(message.part)
        return
      case 'drop':
        parts = []
        return
      case 'commit':
        // It answers what went wrong.
        void commit(message.end)
        return
      case 'copy':
        copy(message.pages)
        return
      case 'close':
        if (target?.opened !== undefined) {
          // Else the next short commit of the main thread would do it.
          target.opened.db.run('PRAGMA wal_checkpoint(PASSIVE)')
          target.opened.close()
        }
        answer({ type: 'closed' })
    }
  }
}

/**
 * Pages of the log from which on a commit folds it into the file, 64 MB. A batch changes a page for nearly each list and
 * each transaction that it has, wherever they lie; folded after each batch, as SQLite would, each is written to the file
 * and synced every time.
 */
const FOLDED_PAGES = 16_000

type Target = {
  readonly path: string
  readonly name: string
  readonly owner: Owner
  readonly file: FileMark
  opened: Connection | undefined
}

const connectionOf = (target: Target): Connection => {
  if (target.opened !== undefined) return target.opened
  const { path, name, file } = target
  const opened = openWriter(path, name)
  if (opened === undefined || opened.file.ino !== file.ino || opened.file.dev !== file.dev) {
    opened?.close()
    throw new Failure('conflict', `${name} was removed or replaced during loading.`)
  }
  opened.db.run(`PRAGMA wal_autocheckpoint = ${FOLDED_PAGES}`)
  target.opened = opened
  return opened
}

const writeParts = async (
  target: Target,
  parts: readonly DocumentMessage[],
  end: Published,
): Promise<void> => {
  const writing = connectionOf(target)
  const { name, owner } = target
  await inTransaction(writing, name, () => {
    requireOwn(writing, name, owner)
    // Only batches far from the head are written here.
    clearUndo(writing)
    for (const part of parts) writePart(writing, part)
    putPublished(writing, end)
  })
}

const writePart = (writing: Connection, part: DocumentMessage): void => {
  const index = indices.get(part.index)
  if (index === undefined) throw new TypeError(`No index is named ${part.index}.`)
  if (index.kind === 'history') {
    const rows = historyRows(writing, index)
    for (const doc of unpacked(index, part)) rows.add(doc)
    rows.end()
    return
  }
  const table = tableOf(index)
  for (const doc of unpacked(index, part)) upsert(writing, table, doc)
}
