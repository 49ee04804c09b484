import { Failure } from '#failure/failure.ts'
import type { Identity, Published } from '#store/port.ts'
import { provedFrom } from '#store/proved.ts'
import type { Connection } from './connection.ts'
import { fingerprint } from './tables.ts'

/** Who holds the pen: `token` tells takeovers apart, the rest is for messages. */
export type Owner = { readonly token: string; readonly pid: number; readonly since: string }

type MetaKey = 'schema' | 'identity' | 'published' | 'writer' | 'mending'

/** `beside`: of a store that is attached under this name. */
type Database = 'main' | 'beside'

const get = (connection: Connection, key: MetaKey, database: Database = 'main'): string | undefined => {
  const value = connection.row(`SELECT "value" FROM ${database}."meta" WHERE "key" = ?`, key)?.[0]
  return typeof value === 'string' ? value : undefined
}
const put = (connection: Connection, key: MetaKey, value: string): void => {
  connection
    .statement(
      'INSERT INTO "meta" ("key", "value") VALUES (?, ?) ON CONFLICT ("key") DO UPDATE SET "value" = excluded."value"',
    )
    .run(key, value)
}

export const getPublished = (connection: Connection, database?: Database): Published | undefined => {
  const text = get(connection, 'published', database)
  return text === undefined ? undefined : fromText(text)
}
export const putPublished = (connection: Connection, published: Published): void =>
  put(connection, 'published', toText(published))

export const toText = ({ height, hash, time, lib, proved }: Published): string =>
  JSON.stringify({ height, hash, time: String(time), lib, proved })
export const fromText = (text: string): Published => {
  const stored = JSON.parse(text) as Omit<Published, 'time' | 'proved'> & {
    readonly time: string
    readonly proved?: unknown
  }
  const { height, hash, time, lib } = stored
  const proved = provedFrom(stored.proved)
  return { height, hash, time: BigInt(time), lib, ...(proved === undefined ? {} : { proved }) }
}

/** A repair leads to what is published and has not come to its end: nothing is to be read or loaded. */
export const isMending = (connection: Connection): boolean => get(connection, 'mending') === 'true'
export const putMending = (connection: Connection, mending: boolean): void =>
  put(connection, 'mending', String(mending))

export const getIdentity = (connection: Connection, database?: Database): Identity | undefined => {
  const text = get(connection, 'identity', database)
  return text === undefined ? undefined : (JSON.parse(text) as Identity)
}
export const putIdentity = (connection: Connection, { chainId, genesis, derivation }: Identity): void =>
  put(connection, 'identity', JSON.stringify({ chainId, genesis, derivation }))

export const getOwner = (connection: Connection): Owner | undefined => {
  const text = get(connection, 'writer')
  return text === undefined ? undefined : (JSON.parse(text) as Owner)
}
export const putOwner = (connection: Connection, owner: Owner): void =>
  put(connection, 'writer', JSON.stringify(owner))

export const putFingerprint = (connection: Connection): void => put(connection, 'schema', fingerprint)

/** What the file says its schema is; undefined: it does not say. */
export const getFingerprint = (connection: Connection): string | undefined => get(connection, 'schema')

/** Throws 'conflict' when the file was made with another schema than this program's. */
export const checkFingerprint = (connection: Connection, name: string): void => {
  const stored = getFingerprint(connection)
  if (stored !== fingerprint)
    throw new Failure('conflict', `${name} has schema ${stored}, this version needs ${fingerprint}.`, {
      help: 'Run `iostlens indices check` for what differs; then `iostlens indices migrate`, or use the version that made it.',
    })
}
