import type { SqliteConnection } from './connection.ts'
import { getIdentity, getPublished, putFingerprint, putIdentity, putPublished } from './meta.ts'
import { quoted, schema } from './tables.ts'

/** Tables that keep their rows. */
const KEPT = new Set(['meta', 'keys'])

/**
 * Replaces the tables, of whatever version, by those of the attached store `beside`, within a transaction.
 * Keys keep the columns that both versions know.
 */
export function replaceTables(connection: SqliteConnection): void {
  const { db } = connection
  for (const [name] of listTables(connection, 'main'))
    if (!KEPT.has(String(name))) db.run(`DROP TABLE main.${quoted(String(name))}`)
  for (const name of KEPT) remake(connection, name)
  for (const { name, type, sql } of schema) {
    if (KEPT.has(name)) continue
    db.run(sql)
    if (type !== 'table') continue
    // Without generated columns.
    const columns = [...readColumnNames(connection, name)].map(quoted).join(', ')
    db.run(`INSERT INTO main.${quoted(name)} (${columns}) SELECT ${columns} FROM beside.${quoted(name)}`)
  }
  const published = getPublished(connection, 'beside')
  const identity = getIdentity(connection, 'beside')
  if (published !== undefined) putPublished(connection, published)
  if (identity !== undefined) putIdentity(connection, identity)
  putFingerprint(connection)
}

const listTables = (connection: SqliteConnection, database: string) =>
  connection.rows(`SELECT name, sql FROM ${database}.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)

const readColumnNames = (connection: SqliteConnection, table: string): ReadonlySet<string> =>
  new Set(connection.rows('SELECT name FROM pragma_table_info(?)', table).map(([name]) => String(name)))

/** Re-creates a kept table with this version's definition. */
function remake(connection: SqliteConnection, name: string): void {
  const { db } = connection
  const sql = schema.find(object => object.name === name)?.sql
  const stored = listTables(connection, 'main').find(([table]) => table === name)?.[1]
  if (sql === undefined || stored === sql) return
  if (stored === undefined) {
    db.run(sql)
    return
  }
  const old = `${name}.old`
  db.run(`ALTER TABLE main.${quoted(name)} RENAME TO ${quoted(old)}`)
  db.run(sql)
  const [had, has] = [readColumnNames(connection, old), readColumnNames(connection, name)]
  const both = [...has]
    .filter(column => had.has(column))
    .map(quoted)
    .join(', ')
  db.run(`INSERT INTO main.${quoted(name)} (${both}) SELECT ${both} FROM main.${quoted(old)}`)
  db.run(`DROP TABLE main.${quoted(old)}`)
}
