import { statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Failure } from '#failure/failure.ts'
import { type KeyDay, USAGE_DAYS, type Usage } from '#store/keys-port.ts'
import { createFolder } from '#store/own-files.ts'
import { mapSqliteErrors, openOrCreate, type SqliteConnection } from './connection.ts'

/** The file with the counts of a store's keys. It is a separate file, so that counting waits for no loader. */
export function getUsagePath(store: string): string {
  const name = basename(store)
  return join(dirname(store), name === 'iostlens.sqlite' ? 'usage.sqlite' : `${name}.usage`)
}

/**
 * The counts in a file, which the first count creates. They are written a few times a second, so the death
 * of the process loses at most the last second. `beside`: a file without which none is created, because the path may be
 * mistyped.
 */
export function openSqliteUsage(path: string, beside?: string): Usage {
  let opened: SqliteConnection | undefined
  const name = `sqlite:${path}`
  const open = (): SqliteConnection => {
    if (beside !== undefined && !isThere(beside))
      throw new Failure('unavailable', `There is no ${beside} to count for.`)
    // Counts must not go to a file that was deleted or replaced.
    if (opened !== undefined && !opened.isInPlace()) close()
    opened ??= openFile(path, name)
    return opened
  }
  const close = (): void => {
    opened?.close()
    opened = undefined
  }
  return {
    add: async (day, counts, at) =>
      mapSqliteErrors(name, () =>
        counts.size > 0 || isThere(path) ? addUsage(open(), { day, counts, at }) : new Map(),
      ),
    since: async day =>
      mapSqliteErrors(name, () => {
        if (!isThere(path)) return []
        return open()
          .rows('SELECT "day", "key", "count", "last" FROM "usage" WHERE "day" >= ?', BigInt(day))
          .map(([day, key, ...rest]): KeyDay => {
            const [requests = 0, last = 0] = rest.map(Number)
            return { day: Number(day), key: String(key), requests, last }
          })
      }),
    close: async () => close(),
  }
}

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined

function openFile(path: string, name: string): SqliteConnection {
  createFolder(dirname(path))
  using opened = new DisposableStack()
  const connection = opened.use(openOrCreate(path, name))
  const { db } = connection
  // This process answers no requests while it waits for another one's write.
  db.run('PRAGMA busy_timeout = 50')
  // Counts lost to a power failure are acceptable.
  db.run('PRAGMA synchronous = OFF')
  db.run(
    'CREATE TABLE IF NOT EXISTS "usage" ("day" INTEGER, "key" TEXT, "count" INTEGER, "last" INTEGER NOT NULL DEFAULT 0, PRIMARY KEY ("day", "key")) WITHOUT ROWID',
  )
  // Files of earlier versions lack the column.
  if (!connection.rows(`SELECT name FROM pragma_table_info('usage')`).flat().includes('last'))
    db.run('ALTER TABLE "usage" ADD COLUMN "last" INTEGER NOT NULL DEFAULT 0')
  opened.move()
  return connection
}

/** Adds counts and returns the totals in one transaction, so that a failed addition stores nothing. */
function addUsage(
  connection: SqliteConnection,
  { day, counts, at }: { readonly day: number; readonly counts: ReadonlyMap<string, number>; readonly at: number },
): ReadonlyMap<string, number> {
  const all = () =>
    new Map(
      connection
        .rows('SELECT "key", "count" FROM "usage" WHERE "day" = ?', BigInt(day))
        .map(([key, count]) => [String(key), Number(count)] as const),
    )
  if (counts.size === 0) return all()
  const write = connection.db.transaction(() => {
    const add = connection.statement(
      'INSERT INTO "usage" ("day", "key", "count", "last") VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET "count" = "count" + excluded."count", "last" = max("last", excluded."last")',
    )
    for (const [key, count] of counts) add.run(BigInt(day), key, BigInt(count), BigInt(at))
    connection.statement('DELETE FROM "usage" WHERE "day" < ?').run(BigInt(day - USAGE_DAYS))
    return all()
  })
  return write.immediate()
}
