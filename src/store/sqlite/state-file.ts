import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { tryParseJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import { balances } from '#indices/balance.ts'
import { stateIndices } from '#indices/registry.ts'
import { findCountedOrder } from '#indices/standing.ts'
import { createFolder } from '#store/own-files.ts'
import { isCount, toMembers } from '#store/published.ts'
import type { FormerDocument, FormerState, StateDocument, StateFile, StateMark } from '#store/state-port.ts'
import { yieldEventLoop } from '#time/clock.ts'
import { clearUndo, createUndo, keepUndo, revertLast, upsert } from './commit.ts'
import { isDamage, mapSqliteErrors, openOrCreate, type SqliteConnection, undefinedIfDamaged } from './connection.ts'
import { acquireLock } from './lock.ts'
import { getMeta, putMeta, runTransaction } from './meta.ts'
import {
  fieldIndexName,
  getTable,
  META,
  orderIndexName,
  quoteIdentifier,
  requireIndex,
  type SchemaObject,
} from './tables.ts'
import { getById, openStateReader } from './view.ts'

/** Tables of state with the indexes that a loader reads: counted orders, and the times of frozen amounts. */
const SCHEMA: readonly SchemaObject[] = [
  META,
  ...stateIndices.flatMap(index => {
    const { name, objects } = getTable(index)
    const order = findCountedOrder(index)
    const read = new Set([
      ...(order === undefined ? [] : [orderIndexName(name, order.name)]),
      ...(index.name === balances.name ? [fieldIndexName(name, 'next_due')] : []),
    ])
    return objects.filter(object => object.type === 'table' || read.has(object.name))
  }),
]

/** A file with other tables than these was written by another version. */
const FINGERPRINT = new Bun.CryptoHasher('sha256').update(SCHEMA.map(({ sql }) => sql).join('\n')).digest('hex')
/**
 * Keys of "meta": the batch that the file is at, and the ids of its documents as long as the store may lack some of them.
 */
const MARK = 'mark'
const UNSENT = 'unsent'

/**
 * Opens the file, and creates it if there is none. A damaged file, or one of another version, is emptied. Throws 'conflict'
 * while another process has it, and for a file of another kind.
 */
export function openStateFile(path: string): StateFile {
  const name = `sqlite:${path}`
  createFolder(dirname(path))
  const unlock = acquireLock(path, name)
  if (unlock === undefined)
    throw new Failure('conflict', `Another loader is using the state file ${path}.`, {
      help: 'Stop it first, or set another folder with --data.',
      retryable: true,
    })
  try {
    return createStateFile({ path, name, connection: openUsable(path, name), unlock })
  } catch (error) {
    unlock()
    throw error
  }
}

/** The file, emptied if it is damaged or of another version. */
function openUsable(path: string, name: string): SqliteConnection {
  const usable = undefinedIfDamaged(() => openCurrent(path, name))
  if (usable !== undefined) return usable
  removeFiles(path)
  const empty = openNamed(path, name)
  createTables(empty)
  return empty
}

/** undefined: the file is of another version. */
function openCurrent(path: string, name: string): SqliteConnection | undefined {
  using opened = new DisposableStack()
  const connection = opened.use(openNamed(path, name))
  const id = Number(connection.row('PRAGMA application_id')?.[0])
  const objects = Number(connection.row('SELECT count(*) FROM sqlite_schema')?.[0])
  if (id !== APPLICATION_ID && objects > 0) throw foreignFile(path)
  if (objects === 0) createTables(connection)
  if (getMeta(connection, 'schema') !== FINGERPRINT) return undefined
  opened.move()
  return connection
}

function removeFiles(path: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
}

function openNamed(path: string, name: string): SqliteConnection {
  try {
    return openOrCreate(path, name)
  } catch (error) {
    throw error instanceof Failure && error.kind === 'conflict' ? foreignFile(path, error) : error
  }
}

function foreignFile(path: string, cause?: unknown): Failure {
  return new Failure('conflict', `${path} is no state file of this program.`, {
    cause,
    help: 'Remove it, or set another folder with --data. A state file is filled again from the store.',
  })
}

/** "ioss" in ASCII: identifies state files (sqlite.org/pragma.html#pragma_application_id). */
const APPLICATION_ID = 0x696f7373

function createTables(connection: SqliteConnection): void {
  const { db } = connection
  db.run('PRAGMA journal_mode = WAL')
  db.transaction(() => {
    for (const { sql } of SCHEMA) db.run(sql)
    createUndo(connection)
    db.run(`PRAGMA application_id = ${APPLICATION_ID}`)
    putMeta(connection, 'schema', FINGERPRINT)
  })()
}

type Parts = {
  readonly path: string
  readonly name: string
  readonly connection: SqliteConnection
  readonly unlock: NonNullable<ReturnType<typeof acquireLock>>
}

function createStateFile({ path, name, connection, unlock }: Parts): StateFile {
  let mark = parseMark(getMeta(connection, MARK))
  let isDamaged = false
  let isClosed = false
  /** The error itself, or for damage one after which the load begins again, with an empty file. */
  const noteDamage = (error: unknown): unknown => {
    if (!isDamage(error)) return error
    isDamaged = true
    return new Failure('unavailable', `${name} is damaged; it is filled again from the store.`, { cause: error })
  }
  const read = <T>(work: (reader: SqliteConnection) => T): T => {
    try {
      return mapSqliteErrors(name, () => work(connection))
    } catch (error) {
      throw noteDamage(error)
    }
  }
  const write = async (work: () => void | Promise<void>, next: StateMark | undefined): Promise<void> => {
    await runTransaction(connection, name, async () => {
      await work()
      if (next !== undefined) putMeta(connection, MARK, JSON.stringify(next))
    }).catch((error: unknown) => {
      throw noteDamage(error)
    })
    mark = next ?? mark
  }
  const close = ({ remove = false } = {}): void => {
    if (isClosed) return
    isClosed = true
    connection.close()
    if (isDamaged || remove) removeFiles(path)
    unlock({ remove })
  }
  return {
    ...openStateReader(read),
    get mark() {
      return mark
    },
    clear: async () => {
      await write(() => {
        for (const key of [MARK, UNSENT] as const) removeMeta(connection, key)
        clearUndo(connection)
        for (const index of stateIndices) connection.db.run(`DELETE FROM ${quoteIdentifier(getTable(index).name)}`)
      }, undefined)
      mark = undefined
    },
    put: (docs, next) =>
      write(async () => {
        await putDocuments(connection, docs)
        // A file that was filled from the store has no documents that the store lacks.
        if (next !== undefined) removeMeta(connection, UNSENT)
      }, next),
    commit: (batch, { mark: next, before }) => write(() => putBatch(connection, batch, before), next),
    unsent: () => read(readUnsent),
    sent: () => write(() => removeMeta(connection, UNSENT), undefined),
    takeBack: (range, parseEnd) => read(reader => readFormer(reader, range, parseEnd)),
    close: () => close(),
    remove: () => close({ remove: true }),
  }
}

async function putBatch(
  connection: SqliteConnection,
  batch: Parameters<StateFile['commit']>[0],
  before: string | undefined,
): Promise<void> {
  keepUndo(connection, batch, before)
  await putDocuments(connection, batch.changes)
  putMeta(connection, UNSENT, JSON.stringify(batch.changes.map(({ index, doc }) => [index.name, doc.id])))
}

async function putDocuments(connection: SqliteConnection, docs: Iterable<StateDocument>): Promise<void> {
  let written = 0
  for (const { index, doc } of docs) {
    upsert(connection, index, doc)
    written += 1
    // Other work of the process gets a turn after some 5 ms.
    if (written % 1_000 === 0) await yieldEventLoop()
  }
}

function readUnsent(reader: SqliteConnection): readonly StateDocument[] | undefined {
  const text = getMeta(reader, UNSENT)
  if (text === undefined) return undefined
  return (JSON.parse(text) as readonly (readonly [string, string])[]).map(([name, id]) => {
    const index = requireIndex(name)
    const doc = getById(reader, index, id)
    if (doc === undefined) throw new Failure('damaged', `The last batch has no document '${id}' of ${name}.`)
    return { index, doc } as StateDocument
  })
}

/** Reverts batches and reads their documents, in a transaction that is then rolled back. */
function readFormer(
  connection: SqliteConnection,
  { from, height }: { readonly from: number; readonly height: number },
  parseEnd: (before: string) => number | undefined,
): FormerState | undefined {
  const documents = new Map<string, FormerDocument>()
  let before: string | undefined
  connection.db.run('BEGIN')
  try {
    for (let end: number | undefined = from; end === undefined || end > height; ) {
      const reverted = end === undefined ? undefined : revertLast(connection, end)
      if (reverted === undefined) return undefined
      before = reverted.before
      for (const [index, id] of reverted.changed)
        documents.set(`${index.name} ${id}`, {
          index,
          id,
          doc: getById(connection, index, id) as FormerDocument['doc'],
        })
      end = parseEnd(before)
    }
  } finally {
    connection.db.run('ROLLBACK')
  }
  return before === undefined ? undefined : { before, documents: [...documents.values()] }
}

function removeMeta(connection: SqliteConnection, key: typeof MARK | typeof UNSENT): void {
  connection.statement('DELETE FROM "meta" WHERE "key" = ?').run(key)
}

function parseMark(text: string | undefined): StateMark | undefined {
  const { store, stamp, hash, batch } = toMembers(text === undefined ? undefined : tryParseJson(text)) ?? {}
  const isMark = typeof store === 'string' && isCount(stamp) && typeof hash === 'string' && typeof batch === 'string'
  return isMark ? { store, stamp, hash, batch } : undefined
}
