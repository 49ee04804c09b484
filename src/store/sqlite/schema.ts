import { Failure } from '#failure/failure.ts'
import { refuseDifferent } from '#store/failures.ts'
import type { StoreDifference } from '#store/port.ts'
import { type SqliteConnection, withMemoryDatabase } from './connection.ts'
import { getMeta, getPublished, putFingerprint } from './meta.ts'
import { fingerprint, type SchemaObject, schema } from './tables.ts'

/** "iost" in ASCII: identifies our files (sqlite.org/pragma.html#pragma_application_id). */
const APPLICATION_ID = 0x696f7374

/**
 * Whether the file is a store. 'empty': it has no tables yet, for example after an interrupted creation.
 * Throws 'conflict' for another program's file.
 */
export function inspect(connection: SqliteConnection, name: string): 'store' | 'empty' {
  const id = Number(connection.row('PRAGMA application_id')?.[0])
  if (id === APPLICATION_ID) return 'store'
  const objects = Number(connection.row('SELECT count(*) FROM sqlite_schema')?.[0])
  if (id === 0 && objects === 0) return 'empty'
  throw new Failure(
    'conflict',
    `${name} is a file of another program: its application id is ${id}, expected ${APPLICATION_ID}.`,
    { help: 'Set --store to another file.' },
  )
}

/** Objects that are missing in the file or defined differently, in the order of `schema`. */
export function findSchemaDifferences(connection: SqliteConnection): readonly StoreDifference[] {
  const stored = new Map(
    connection
      .rows('SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL')
      .map(([name, sql]) => [String(name), String(sql)]),
  )
  const differences = schema.flatMap((object): readonly StoreDifference[] => {
    const sql = stored.get(object.name)
    if (sql === undefined) return [describeMissing(object)]
    return sql === object.sql ? [] : [describeDifferent(connection, object, sql)]
  })
  const made = stored.has('meta') ? getMeta(connection, 'schema') : undefined
  return differences.length > 0 || made === fingerprint
    ? differences
    : [{ name: 'meta', problem: 'different', detail: `schema is ${made}, expected ${fingerprint}` }]
}

export const listEverythingMissing = (): readonly StoreDifference[] => schema.map(describeMissing)

const describeMissing = ({ name, type }: SchemaObject): StoreDifference => ({
  name,
  problem: 'missing',
  detail: `${type} does not exist`,
})

function describeDifferent(connection: SqliteConnection, object: SchemaObject, sql: string): StoreDifference {
  const detail = `stored: ${sql.replaceAll(/\s+/g, ' ')}; expected: ${object.sql}`
  if (object.type === 'index') return { name: object.name, problem: 'different', detail }
  const stored = new Map(readColumns(connection, object.name))
  // SQLite itself parses the expected definition, in a database in memory.
  const expected = withMemoryDatabase(scratch => {
    scratch.db.run(object.sql)
    return new Map(readColumns(scratch, object.name))
  })
  const columns = [...new Set([...expected.keys(), ...stored.keys()])]
    .filter(column => stored.get(column) !== expected.get(column))
    .map(column => `column ${column} is ${stored.get(column) ?? 'absent'}, expected ${expected.get(column) ?? 'none'}`)
  return { name: object.name, problem: 'different', detail: columns.length > 0 ? columns.join('; ') : detail }
}

/** Pairs of a column and its type with constraints. */
const readColumns = (connection: SqliteConnection, table: string): readonly (readonly [string, string])[] =>
  connection
    .rows('SELECT name, type, "notnull", pk FROM pragma_table_info(?)', table)
    .map(([name, type, notNull, pk]) => [
      String(name),
      `${type}${pk === 0n ? '' : ' PRIMARY KEY'}${notNull === 0n ? '' : ' NOT NULL'}`,
    ])

/** Creates missing objects, in a transaction. Throws 'conflict' for differences, 'damaged' for lost tables. */
export function createMissing(connection: SqliteConnection, name: string): void {
  const state = inspect(connection, name)
  const differences = state === 'empty' ? listEverythingMissing() : findSchemaDifferences(connection)
  refuseDifferent(name, differences)
  const absent = new Set(differences.map(each => each.name))
  const lost = schema.find(object => object.type === 'table' && absent.has(object.name))
  if (lost !== undefined && !absent.has('meta') && getPublished(connection) !== undefined)
    throw new Failure('damaged', `${name}: table ${lost.name} is gone, with the data that was loaded into it.`, {
      help: "Restore the file from a copy, or run 'iostlens load' with another --store.",
    })
  for (const { name: object, sql } of schema) if (absent.has(object)) connection.db.run(sql)
  connection.db.run(`PRAGMA application_id = ${APPLICATION_ID}`)
  putFingerprint(connection)
}
