import { Failure } from '#failure/failure.ts'
import { unfinishedRepair } from '#store/mending.ts'
import type { Bulk } from '../client/bulk.ts'
import type { Checkpoint } from '../schema/checkpoint.ts'
import type { Names } from '../schema/names.ts'
import { acquire } from '../write/lease.ts'
import { recover } from '../write/recover.ts'
import { keepHold } from '../write/renew-lease.ts'

export type MigrationHold = Awaited<ReturnType<typeof holdForMigration>>

/**
 * Takes what is served as a loader does, whatever rules it was written by, and brings it to its checkpoint: nobody else
 * writes it from now on. Refuses ('conflict') while a loader is alive. A migration that was stopped right before its
 * end is forgotten.
 */
export const holdForMigration = async (
  bulk: Bulk,
  names: Names,
  { checkpoint, leaseMs }: { readonly checkpoint: Checkpoint; readonly leaseMs: number },
) => {
  const held = await acquire(bulk, names, { identity: checkpoint, leaseMs, require: requireSame })
  const hold = keepHold(bulk, names, held, leaseMs)
  const holding: Bulk = { ...bulk, requireHold: hold.requireHold }
  try {
    if (hold.checkpoint().retired !== undefined) await hold.set({ retired: undefined })
    await recover(holding, names, hold.checkpoint())
  } catch (error) {
    await hold.release().catch(() => {})
    throw error
  }
  return { ...hold, bulk: holding, names }
}

const requireSame = ({ generations, mending }: Checkpoint, names: Names, url: string): void => {
  if (mending) throw unfinishedRepair(`${url}/${names.prefix}`)
  if (Bun.deepEquals(generations ?? {}, names.generations)) return
  throw new Failure('conflict', `Another migration of ${names.prefix} has just finished.`)
}
