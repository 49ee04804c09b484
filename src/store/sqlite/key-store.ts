import { Failure } from '#failure/failure.ts'
import { type KeyStore, nameAndNoteIn, nameWithNote, revokedAt, type StoredKey } from '#store/keys-port.ts'
import type { Cell } from './cell.ts'
import { type Connection, openWriter } from './connection.ts'
import type { Readers } from './readers.ts'
import { inspect } from './schema.ts'
import { inTransaction } from './transaction.ts'

const COLUMNS = '"id", "hash", "name", "perSecond", "perDay", "created", "expires", "revoked"'

/** Keys in the same file as the documents. A write waits for a busy loader and never disturbs it. */
export const keyStoreOf = (path: string, name: string, readers: Readers): KeyStore => {
  /** undefined: there is no store. */
  const writing = async <T>(work: (connection: Connection) => T): Promise<T | undefined> => {
    const connection = openWriter(path, name)
    if (connection === undefined) return undefined
    try {
      return inspect(connection, name) === 'empty'
        ? undefined
        : await inTransaction(connection, name, () => {
            requireTable(connection, name)
            return work(connection)
          })
    } finally {
      connection.close()
    }
  }

  const change: KeyStore['change'] = async (id, terms) => {
    const changed = await writing(connection => {
      const [row] = connection.rows(`SELECT ${COLUMNS} FROM "keys" WHERE "id" = ?`, id)
      if (row === undefined) return false
      const { id: _, hash, created, ...now } = fromCells(row)
      connection
        .statement(`REPLACE INTO "keys" (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
        .run(...toCells({ ...terms(now), id, hash, created }))
      return true
    })
    return changed === true
  }

  return {
    add: async key => {
      const added = await writing(connection => {
        const { changes } = connection
          .statement(`INSERT INTO "keys" (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)
          .run(...toCells(key))
        return changes
      })
      if (added === undefined)
        throw new Failure('conflict', `${name} is not created yet.`, {
          help: 'Run `iostlens indices create` first.',
        })
      if (added === 0) throw new Failure('conflict', `A key with the id '${key.id}' already exists.`)
    },
    list: async signal => {
      const rows = await readers.readOnce(connection => {
        requireTable(connection, name)
        return connection.rows(`SELECT ${COLUMNS} FROM "keys" ORDER BY "created", "id"`)
      }, signal)
      return (rows ?? []).map(fromCells)
    },
    change,
    revoke: (id, now) => change(id, revokedAt(now)),
  }
}

/** Throws 'damaged' for a store that has lost its table of keys, which is not the same as having no keys. */
const requireTable = (connection: Connection, name: string): void => {
  if (connection.row(`SELECT 1 FROM sqlite_schema WHERE "type" = 'table' AND "name" = 'keys'`) === undefined)
    throw new Failure('damaged', `${name}: table keys is gone, and the API keys in it.`, {
      help: 'Restore the file from a copy, or run iostlens load with another --store and create new keys.',
    })
}

const toCells = (key: StoredKey): Cell[] => [
  key.id,
  key.hash,
  nameWithNote(key),
  ...[key.perSecond, key.perDay, key.created].map(BigInt),
  ...[key.expires, key.revoked].map(value => (value === undefined ? null : BigInt(value))),
]

const fromCells = ([id, hash, name, perSecond, perDay, created, expires, revoked]: readonly Cell[]): StoredKey => ({
  id: String(id),
  hash: String(hash),
  ...nameAndNoteIn(String(name)),
  perSecond: Number(perSecond),
  perDay: Number(perDay),
  created: Number(created),
  ...(typeof expires === 'bigint' ? { expires: Number(expires) } : {}),
  ...(typeof revoked === 'bigint' ? { revoked: Number(revoked) } : {}),
})
