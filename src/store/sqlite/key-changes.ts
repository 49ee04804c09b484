import type { SqliteConnection } from './connection.ts'
import { getKeyChanges, putKeyChanges } from './meta.ts'

/** Number of changes that are kept; who asks later than that reads all keys again. */
const KEPT = 1_000

/** The changes of keys, oldest first. A line has a random token, which no other file has, and the id of the key. */
const readLines = (connection: SqliteConnection): readonly string[] => getKeyChanges(connection)?.split('\n') ?? []

/** Notes that keys change, in the transaction that changes them. */
export function noteKeyChanges(connection: SqliteConnection, ids: readonly string[]): void {
  const lines = ids.slice(-KEPT).map(id => `${crypto.randomUUID().slice(0, 18)} ${id}`)
  putKeyChanges(connection, [...readLines(connection), ...lines].slice(-KEPT).join('\n'))
}

/** The token of the last change; '' when none was noted yet. */
export const lastKeyChange = (connection: SqliteConnection): string => readLines(connection).at(-1)?.split(' ')[0] ?? ''

/** Ids of the keys that were changed after the change with this token; undefined: it is no longer known. */
export function changedKeysSince(connection: SqliteConnection, token: string): readonly string[] | undefined {
  const lines = readLines(connection)
  const at = lines.findIndex(line => line.startsWith(`${token} `))
  const isKnown = token === '' ? lines.length < KEPT : at >= 0
  if (!isKnown) return undefined
  return [...new Set(lines.slice(token === '' ? 0 : at + 1).map(line => line.slice(line.indexOf(' ') + 1)))]
}
