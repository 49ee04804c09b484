import { Failure } from '#failure/failure.ts'
import { NOTHING_FILLED } from '#store/batch.ts'
import { checkIdentity } from '#store/identity.ts'
import type { Identity } from '#store/port.ts'
import { unfinishedRepair } from '#store/repair-failures.ts'
import { readCheckpoint } from '../schema/checkpoint.ts'
import type { Checkpoint } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import { SCHEMA } from '../schema/mappings.ts'
import type { Names } from '../schema/names.ts'
import { FIRST_PARTITION } from '../schema/partitions.ts'
import { requireEmptyStore } from '../schema/require-empty.ts'
import { onceStarted } from '../schema/wait-for-shards.ts'
import { compareAndSet, type StoredCheckpoint } from './compare-and-set.ts'

const SIGNS_PER_LEASE = 3

/**
 * Renewals that prove another loader alive: one write of a killed loader may still arrive late. Because of
 * compare-and-set a second one cannot.
 */
const SIGNS_OF_LIFE = 2

/** Pause between two renewals. */
export const signEveryMs = (leaseMs: number): number => Math.max(1, Math.floor(leaseMs / SIGNS_PER_LEASE))

/**
 * Takes the lease for a new random owner. While another loader has it, waits until that loader renews it
 * ('conflict') or until it expires after `leaseMs`. If that loader is alive after all, its next commit fails:
 * safety does not depend on clocks. `require` throws if the checkpoint must not be continued.
 */
export const acquireLease = async (
  cluster: Cluster,
  identity: Identity,
  require = requireLoadable,
): Promise<StoredCheckpoint> => {
  const { names } = cluster
  const seen = await freeCheckpoint(cluster, stored => {
    require(cluster, stored, identity)
  })
  if (seen === undefined) await onceStarted(() => requireEmptyStore(cluster), cluster.clock)
  const owner = crypto.randomUUID()
  const next = {
    ...(seen?.checkpoint ?? emptyCheckpoint(names, identity)),
    owner,
    renewed: cluster.clock.now(),
  }
  const held = await compareAndSet(cluster, next, seen)
  if (held === undefined)
    throw new Failure('conflict', `Another loader has just locked ${names.prefix}.`, { retryable: true })
  return held
}

const freeCheckpoint = async (
  cluster: Cluster,
  require: (stored: Checkpoint) => void,
): Promise<StoredCheckpoint | undefined> => {
  const { names, leaseMs } = cluster
  const { clock } = cluster
  let since = clock.elapsed()
  let seen = await readCheckpoint(cluster)
  let last = seen
  let signs = 0
  while (seen !== undefined) {
    require(seen.checkpoint)
    const { owner, renewed } = seen.checkpoint
    if (owner === '' || clock.now() - renewed > leaseMs || clock.elapsed() - since > leaseMs) return seen
    if (seen.seqNo !== last?.seqNo) {
      since = clock.elapsed()
      last = seen
      signs += 1
    }
    if (signs === SIGNS_OF_LIFE)
      throw new Failure('conflict', `Another loader is writing ${names.prefix} at ${cluster.connection.url}.`, {
        help: 'Stop it first; a store can have only one loader.',
        retryable: true,
      })
    await clock.sleep(signEveryMs(leaseMs) / 2)
    seen = await readCheckpoint(cluster)
  }
  return undefined
}

/** Throws if a loader must not continue from this checkpoint. */
const requireLoadable = (cluster: Cluster, stored: Checkpoint, identity: Identity): void => {
  requireServed(cluster, stored, identity)
  if (stored.mending) throw unfinishedRepair(`${cluster.connection.url}/${cluster.names.prefix}`)
}

/** Throws if this store must not be written. */
export const requireServed = (
  { connection: { url }, names }: Cluster,
  stored: Checkpoint,
  identity: Identity,
): void => {
  const { generations, retired } = stored
  // Retryable: the next try finds the generation that is served then.
  if (retired !== undefined || !Bun.deepEquals(generations ?? {}, names.generations))
    throw new Failure('unavailable', `A migration is replacing the indices of ${names.prefix} at ${url}.`, {
      help: "If none is running, one was stopped right before its end. Run 'iostlens indices migrate' again.",
    })
  requireIdentity(stored, identity, `${url}/${names.prefix}`)
}

const emptyCheckpoint = (names: Names, identity: Identity): Omit<Checkpoint, 'owner' | 'renewed' | 'write'> => ({
  schema: SCHEMA,
  chainId: identity.chainId,
  genesis: identity.genesis,
  derivation: identity.derivation,
  partitions: FIRST_PARTITION,
  generations: names.generations,
  filling: NOTHING_FILLED,
  batch: '',
})

const requireIdentity = (stored: Checkpoint, wanted: Identity, store: string): void => {
  checkIdentity(store, stored, wanted)
  if (stored.schema !== SCHEMA)
    throw new Failure(
      'conflict',
      `${store} has documents of schema ${stored.schema}, but the loader needs ${SCHEMA}.`,
      { help: "Run: 'iostlens indices migrate'. Or use the version that loaded the store." },
    )
}
