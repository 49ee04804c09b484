import { existsSync, rmSync } from 'node:fs'
import { basename } from 'node:path'
import { Failure } from '#failure/failure.ts'
import { DERIVATION } from '#indices/registry.ts'
import { derivationReasons } from '#store/identity.ts'
import type { MigrationPlan, MigrationPort } from '#store/migration-port.ts'
import type { Store } from '#store/port.ts'
import type { ReadPort } from '#store/read-port.ts'
import { openReader, openWriter, type SqliteConnection } from './connection.ts'
import { guarded } from './failures.ts'
import { acquireLock } from './lock.ts'
import { getIdentity, getPublished } from './meta.ts'
import { replaceTables } from './replace-tables.ts'
import { findSchemaDifferences, inspect } from './schema.ts'
import { refuseSecond } from './take-over.ts'
import { inTransaction } from './transaction.ts'

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
    reading(path, name, connection => ({
      ...planFileMigration(connection),
      leftovers: existsSync(besidePath) ? [basename(besidePath)] : [],
    }))
  const removeLeftovers = async (): Promise<readonly string[]> => {
    const { leftovers } = plan()
    remove(besidePath)
    return leftovers
  }
  return {
    source,
    plan: async () => plan(),
    beside: async () => {
      const identity = reading(path, name, getIdentity)
      if (existsSync(besidePath) && !isUsable(besidePath, name, identity?.genesis)) remove(besidePath)
      return open(besidePath)
    },
    swap: async catchUp => {
      const connection = openWriter(path, name)
      if (connection === undefined) throw nothing(name)
      let unlock = (): void => {}
      try {
        unlock = acquireLock(path, name) ?? refuseSecond(connection, name)
        await catchUp(guarded(name, () => getPublished(connection))?.height ?? -1)
        guarded(name, () => connection.statement('ATTACH ? AS beside').run(besidePath))
        await inTransaction(connection, name, () => replaceTables(connection))
      } finally {
        connection.close()
        unlock()
      }
      // The file beside serves no requests, and all its data is in the main file.
      remove(besidePath)
    },
    removeLeftovers,
  }
}

const nothing = (name: string): Failure =>
  new Failure('conflict', `${name}: there is nothing to migrate.`, { help: "Run: 'iostlens indices create'." })

function reading<T>(path: string, name: string, work: (connection: SqliteConnection) => T): T {
  const connection = openReader(path, name)
  if (connection === undefined) throw nothing(name)
  try {
    if (inspect(connection, name) === 'empty') throw nothing(name)
    return guarded(name, () => work(connection))
  } finally {
    connection.close()
  }
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
    return reading(path, name, connection => {
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
