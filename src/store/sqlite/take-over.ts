import { Failure } from '#failure/failure.ts'
import { checkIdentity } from '#store/identity.ts'
import { refuseDifferent } from '#store/other-version.ts'
import type { Identity, Published, Writer } from '#store/port.ts'
import type { ReportCall } from '#store/read-port.ts'
import { unfinishedRepair } from '#store/repair-failures.ts'
import { openReader, openWriter, type SqliteConnection } from './connection.ts'
import { guarded } from './failures.ts'
import { acquireLock } from './lock.ts'
import { getIdentity, getOwner, getPublished, isUnderRepair, type Owner, putIdentity, putOwner } from './meta.ts'
import { findSchemaDifferences, inspect } from './schema.ts'
import type { FarBatchesOf } from './threads/far-batches.ts'
import { inTransaction } from './transaction.ts'
import { createUndo } from './undo.ts'
import { createWriteLock } from './write-lock.ts'
import { createWriter } from './writer.ts'

type File = { readonly path: string; readonly name: string }
type Taking = {
  readonly identity: Identity
  readonly repair: boolean
  readonly farBatches: FarBatchesOf | undefined
  readonly report: ReportCall
}

/** Opens the store for exclusive writing, see `Store.takeOver`. */
export async function takeOverStore({ path, name }: File, taking: Taking): Promise<Writer> {
  const writing = openWriter(path, name)
  const release = { lock: () => {}, reader: () => {} }
  try {
    if (writing === undefined || inspect(writing, name) === 'empty') throw notCreated(name)
    const differences = guarded(name, () => findSchemaDifferences(writing))
    refuseDifferent(name, differences)
    if (differences.length > 0) throw notCreated(name)
    const unlock = acquireLock(path, name) ?? refuseSecond(writing, name)
    release.lock = unlock
    const reader = openReader(path, name)
    if (reader === undefined) throw notCreated(name)
    release.reader = reader.close
    const owner: Owner = { token: crypto.randomUUID(), pid: process.pid, since: new Date().toISOString() }
    const checkpoint = await inTransaction(writing, name, () => begin(writing, name, { ...taking, owner }))
    const far = taking.farBatches?.({ path, name, owner, file: writing.file })
    return createWriter(createWriteLock({ name, writing, reader, owner, checkpoint, unlock, far }), taking.report)
  } catch (error) {
    release.reader()
    writing?.close()
    release.lock()
    throw error
  }
}

/** Records the new writer, within the caller's transaction; returns the end of the store. */
function begin(
  writing: SqliteConnection,
  name: string,
  { identity, repair, owner }: Taking & { readonly owner: Owner },
): Published | undefined {
  const stored = getIdentity(writing)
  checkIdentity(name, stored, identity)
  if (!repair && isUnderRepair(writing)) throw unfinishedRepair(name)
  createUndo(writing)
  if (stored === undefined) putIdentity(writing, identity)
  putOwner(writing, owner)
  return getPublished(writing)
}

const notCreated = (name: string): Failure =>
  new Failure('conflict', `${name} is not created, or only in part.`, {
    help: "Run 'iostlens indices create' first.",
  })

/** Throws 'conflict' with the process that writes to the store, if it is known. */
export function refuseSecond(connection: SqliteConnection, name: string): never {
  const owner = guarded(name, () => getOwner(connection))
  const who = owner === undefined ? '' : ` (process ${owner.pid}, since ${owner.since})`
  throw new Failure('conflict', `Another loader is writing to ${name}${who}.`, {
    help: 'Stop it first, or load into another store.',
    retryable: true,
  })
}
