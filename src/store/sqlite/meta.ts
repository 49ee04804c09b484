import { jsonIn } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import { blocks } from '#indices/block.ts'
import { otherVersion, requireDerivation } from '#store/other-version.ts'
import type { Identity, Published } from '#store/port.ts'
import { isCount, membersOf, publishedFrom } from '../published.ts'
import type { Connection } from './connection.ts'
import { fingerprint, quoted, tableOf } from './tables.ts'

/** The writer: `token` distinguishes take-overs; the other members are for messages. */
export type Owner = { readonly token: string; readonly pid: number; readonly since: string }

type MetaKey = 'schema' | 'identity' | 'published' | 'writer' | 'mending' | 'keys'

/** `beside`: the name of an attached store. */
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
  return text === undefined ? orLost(connection, 'published', database) : (fromText(text) ?? unreadable('published'))
}
export const putPublished = (connection: Connection, published: Published): void =>
  put(connection, 'published', toText(published))

export const toText = ({ height, hash, time, lib, proved }: Published): string =>
  JSON.stringify({ height, hash, time: String(time), lib, proved })
/** undefined: the text is not a published record. */
export const fromText = (text: string): Published | undefined => publishedFrom(jsonIn(text))

const unreadable = (key: MetaKey): never => {
  throw new Failure('damaged', `The record '${key}' in the table meta of the store cannot be read.`, {
    help: REPAIR,
  })
}

const REPAIR = "Run: 'iostlens repair --node URL'."

/** Without blocks there never was a record; with blocks it was lost. */
const orLost = (connection: Connection, key: MetaKey, database: Database = 'main'): undefined => {
  const { name } = tableOf(blocks)
  const isThere = connection.row(`SELECT 1 FROM ${database}.sqlite_schema WHERE "type" = 'table' AND "name" = ?`, name)
  if (isThere === undefined || connection.row(`SELECT 1 FROM ${database}.${quoted(name)} LIMIT 1`) === undefined)
    return undefined
  throw new Failure('damaged', `The store has blocks, but the record '${key}' in its table meta is lost.`, {
    help: REPAIR,
  })
}

/** The text about the last changes of API keys (`key-changes.ts`); undefined: none was noted. */
export const getKeyChanges = (connection: Connection): string | undefined => get(connection, 'keys')
export const putKeyChanges = (connection: Connection, text: string): void => put(connection, 'keys', text)

/** An unfinished repair is changing the published data: the store must not be read or loaded. */
export const isUnderRepair = (connection: Connection): boolean => (get(connection, 'mending') ?? 'false') !== 'false'
export const putUnderRepair = (connection: Connection, isUnderRepair: boolean): void =>
  put(connection, 'mending', String(isUnderRepair))

export const getIdentity = (connection: Connection, database?: Database): Identity | undefined => {
  const text = get(connection, 'identity', database)
  return text === undefined
    ? orLost(connection, 'identity', database)
    : (identityOf(jsonIn(text)) ?? unreadable('identity'))
}

/** Like `getIdentity`, but undefined also if the record is lost or damaged. */
export const readableIdentity = (connection: Connection): Identity | undefined => {
  const text = get(connection, 'identity')
  return text === undefined ? undefined : identityOf(jsonIn(text))
}

const identityOf = (value: unknown): Identity | undefined => {
  const { chainId, genesis, derivation } = membersOf(value) ?? {}
  return isCount(chainId) && typeof genesis === 'string' && genesis !== '' && isCount(derivation)
    ? { chainId, genesis, derivation }
    : undefined
}

export const putIdentity = (connection: Connection, { chainId, genesis, derivation }: Identity): void =>
  put(connection, 'identity', JSON.stringify({ chainId, genesis, derivation }))

export const getOwner = (connection: Connection): Owner | undefined => {
  const text = get(connection, 'writer')
  const { token, pid, since } = membersOf(text === undefined ? undefined : jsonIn(text)) ?? {}
  return typeof token === 'string' && typeof pid === 'number' && typeof since === 'string'
    ? { token, pid, since }
    : undefined
}
export const putOwner = (connection: Connection, owner: Owner): void => put(connection, 'writer', JSON.stringify(owner))

export const putFingerprint = (connection: Connection): void => put(connection, 'schema', fingerprint)

/** The fingerprint of the schema that the file records; undefined: none. */
export const getFingerprint = (connection: Connection): string | undefined => get(connection, 'schema')

/** Throws 'conflict' when the file was made with a different schema. */
export const checkFingerprint = (connection: Connection, name: string): void => {
  const stored = getFingerprint(connection)
  if (stored !== fingerprint) throw otherVersion(name, `schema ${stored}, but this process reads ${fingerprint}`)
}

/** Also throws when the documents were derived by other rules than `derivation`. */
export const checkVersion = (connection: Connection, name: string, derivation: number | undefined): void => {
  checkFingerprint(connection, name)
  requireDerivation(name, readableIdentity(connection), derivation)
}
