import { Failure } from '#failure/failure.ts'
import { unfinishedRepair } from '#store/mending.ts'
import type { Checkpoint } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import { acquireLease } from '../write/acquire-lease.ts'
import { keepLease } from '../write/keep-lease.ts'
import { recover } from '../write/recover.ts'

/**
 * Takes the lease of the served store as a loader does, whatever its version, and brings it to its checkpoint: from now
 * on no other process writes it. Throws 'conflict' while a loader is alive. Resets a migration that was stopped right
 * before its end.
 */
export const leaseSource = async (cluster: Cluster, checkpoint: Checkpoint) => {
  const lease = keepLease(cluster, await acquireLease(cluster, checkpoint, requireSame))
  try {
    if (lease.checkpoint().retired !== undefined) await lease.set({ retired: undefined })
    await recover(lease.cluster, lease.checkpoint())
  } catch (error) {
    await lease.release().catch(() => {})
    throw error
  }
  return lease
}

const requireSame = ({ connection: { url }, names }: Cluster, { generations, mending }: Checkpoint): void => {
  if (mending) throw unfinishedRepair(`${url}/${names.prefix}`)
  if (Bun.deepEquals(generations ?? {}, names.generations)) return
  throw new Failure('conflict', `Another migration of ${names.prefix} has just finished.`)
}
