import { existsSync, rmSync } from 'node:fs'
import { basename } from 'node:path'
import { Failure } from '#failure/failure.ts'
import { DERIVATION } from '#indices/registry.ts'
import { derivationReasons } from '#store/identity.ts'
import type { MigrationPlan, MigrationPort, ReadPort, Store } from '#store/port.ts'
import { mapSqliteErrors, openReader, openWriter, type SqliteConnection } from './connection.ts'
import { acquireLock } from './lock.ts'
import { getIdentity, getPublished, putFingerprint, putIdentity, putPublished, runTransaction } from './meta.ts'
import { findSchemaDifferences, inspect } from './schema.ts'
import { quoteIdentifier, schema } from './tables.ts'
import { refuseSecond } from './writer.ts'

/** Tables that keep their rows. */
const KEPT = new Set(['meta', 'keys'])

/**
 * Replaces the tables, of whatever version, by those of the attached store `beside`, within a transaction.
 * Keys keep the columns that both versions know.
 */
function replaceTables(connection: SqliteConnection): void {
  const { db } = connection
  for (const [name] of listTables(connection, 'main'))
    if (!KEPT.has(String(name))) db.run(`DROP TABLE main.${quoteIdentifier(String(name))}`)
  for (const name of KEPT) remake(connection, name)
  for (const { name, type, sql } of schema) {
    if (KEPT.has(name)) continue
    db.run(sql)
    if (type !== 'table') continue
    // Without generated columns.
    const columns = [...readColumnNames(connection, name)].map(quoteIdentifier).join(', ')
    db.run(
      `INSERT INTO main.${quoteIdentifier(name)} (${columns}) SELECT ${columns} FROM beside.${quoteIdentifier(name)}`,
    )
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

/** Gives a kept table this version's definition. */
function remake(connection: SqliteConnection, name: string): void {
  const { db } = connection
  const sql = schema.find(object => object.name === name)?.sql
  const stored = listTables(connection, 'main').find(([table]) => table === name)?.[1]
  if (sql === undefined || stored === sql) return
  if (stored === undefined) return void db.run(sql)
  const old = `${name}.old`
  db.run(`ALTER TABLE main.${quoteIdentifier(name)} RENAME TO ${quoteIdentifier(old)}`)
  db.run(sql)
  const [had, has] = [readColumnNames(connection, old), readColumnNames(connection, name)]
  const both = [...has]
    .filter(column => had.has(column))
    .map(quoteIdentifier)
    .join(', ')
  db.run(`INSERT INTO main.${quoteIdentifier(name)} (${both}) SELECT ${both} FROM main.${quoteIdentifier(old)}`)
  db.run(`DROP TABLE main.${quoteIdentifier(old)}`)
}

type Parts = {
  readonly path: string
  readonly name: string
  readonly source: ReadPort
  readonly open: (path: string) => Store
}

/**
 * One transaction brings the file to this version: the tables that were derived in a file beside it replace
 * its own, all at once for readers. Keys stay in the file.
 */
export function createSqliteMigration({ path, name, source, open }: Parts): MigrationPort<Store> {
  const besidePath = `${path}.migrating`
  const plan = (): MigrationPlan =>
    readStoreFile(path, name, connection => ({
      ...planFileMigration(connection),
      leftovers: existsSync(besidePath) ? [basename(besidePath)] : [],
    }))
  return {
    source,
    plan: async () => plan(),
    beside: async () => {
      const identity = readStoreFile(path, name, getIdentity)
      if (existsSync(besidePath) && !isUsable(besidePath, name, identity?.genesis)) remove(besidePath)
      return open(besidePath)
    },
    swap: async catchUp => {
      const connection = openWriter(path, name)
      if (connection === undefined) throw nothing(name)
      let unlock = (): void => {}
      try {
        unlock = acquireLock(path, name) ?? refuseSecond(connection, name)
        await catchUp(getPublished(connection)?.height ?? -1)
        mapSqliteErrors(name, () => connection.statement('ATTACH ? AS beside').run(besidePath))
        await runTransaction(connection, name, () => replaceTables(connection))
      } finally {
        connection.close()
        unlock()
      }
      // The file beside serves no requests, and all its data is in the main file.
      remove(besidePath)
    },
    removeLeftovers: async () => {
      const { leftovers } = plan()
      remove(besidePath)
      return leftovers
    },
  }
}

const nothing = (name: string): Failure =>
  new Failure('conflict', `${name}: there is nothing to migrate.`, { help: "Run: 'iostlens indices create'." })

function readStoreFile<T>(path: string, name: string, work: (connection: SqliteConnection) => T): T {
  using connection = openReader(path, name)
  if (connection === undefined || inspect(connection, name) === 'empty') throw nothing(name)
  return work(connection)
}

function planFileMigration(connection: SqliteConnection): Pick<MigrationPlan, 'way' | 'reasons'> {
  const derivation = getIdentity(connection)?.derivation ?? DERIVATION
  const reasons = [
    ...derivationReasons(derivation),
    ...findSchemaDifferences(connection).map(({ name, problem, detail }) => `${name}: ${problem}: ${detail}`),
  ]
  return { way: reasons.length === 0 ? 'none' : 'derive', reasons }
}

/** Whether a migration of this version, for the same chain, began the file beside. */
function isUsable(path: string, name: string, genesis: string | undefined): boolean {
  try {
    return readStoreFile(path, name, connection => {
      const identity = getIdentity(connection)
      return planFileMigration(connection).way === 'none' && (identity === undefined || identity.genesis === genesis)
    })
  } catch (error) {
    if (error instanceof Failure && error.kind === 'conflict') return false
    throw error
  }
}

function remove(path: string): void {
  for (const ending of ['', '-wal', '-shm', '.lock']) rmSync(`${path}${ending}`, { force: true })
}
