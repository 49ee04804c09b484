import { Failure } from '#failure/failure.ts'
import { checkIdentity } from '#store/identity.ts'
import { unfinishedRepair } from '#store/mending.ts'
import type { Identity } from '#store/port.ts'
import type { Bulk } from '../client/bulk.ts'
import { type Checkpoint, readCheckpoint } from '../schema/checkpoint.ts'
import { SCHEMA } from '../schema/mappings.ts'
import type { Names } from '../schema/names.ts'
import { FIRST_PARTITION, NOTHING_FILLED } from '../schema/partitions.ts'
import { requireNothing } from '../schema/require-empty.ts'
import { onceStarted } from '../schema/wait-for-shards.ts'
import { compareAndSet, type Held } from './compare-and-set.ts'

const SIGNS_PER_LEASE = 3

/** One write of a loader that was killed may be under way still and come late; by compare-and-set no second one. */
const SIGNS_OF_LIFE = 2

/** Wait between two signs of life. */
export const signEveryMs = (leaseMs: number): number => Math.max(1, Math.floor(leaseMs / SIGNS_PER_LEASE))

export type Taking = {
  readonly identity: Identity
  readonly leaseMs: number
  /** Throws when the checkpoint is not one to go on from. Default: what a loader asks of it. */
  readonly require?: typeof requireLoadable
}

/**
 * Takes the checkpoint for a new random owner. While another one holds it, waits for its next signs of life ('conflict')
 * or for the end of its lease: one without a sign for `leaseMs` is taken for dead. Should it not be, it finds out at
 * its next commit; safety does not hang on clocks.
 */
export const acquire = async (
  bulk: Bulk,
  names: Names,
  { identity, leaseMs, require = requireLoadable }: Taking,
): Promise<Held> => {
  const seen = await freeCheckpoint(bulk, names, leaseMs, stored => {
    require(stored, names, bulk.connection.url, identity)
  })
  if (seen === undefined) await onceStarted(() => requireNothing(bulk.connection, names), bulk.clock)
  const owner = crypto.randomUUID()
  const next = { ...(seen?.checkpoint ?? emptyCheckpoint(names, identity)), owner, renewed: bulk.clock.now() }
  const held = await compareAndSet(bulk, names, next, seen)
  if (held === undefined)
    throw new Failure('conflict', `Another loader has just locked ${names.prefix}.`, {
      retryable: true,
    })
  return held
}

const freeCheckpoint = async (
  bulk: Bulk,
  names: Names,
  leaseMs: number,
  require: (stored: Checkpoint) => void,
): Promise<Held | undefined> => {
  let since = bulk.clock.now()
  let seen = await readCheckpoint(bulk.connection, names)
  let last = seen
  let signs = 0
  while (seen !== undefined) {
    require(seen.checkpoint)
    const { owner, renewed } = seen.checkpoint
    const now = bulk.clock.now()
    if (owner === '' || now - renewed > leaseMs || now - since > leaseMs) return seen
    if (seen.seqNo !== last?.seqNo) {
      since = now
      last = seen
      signs += 1
    }
    if (signs === SIGNS_OF_LIFE)
      throw new Failure('conflict', `Another loader is writing ${names.prefix} at ${bulk.connection.url}.`, {
        help: 'Stop it first; a store can have only one loader.',
        retryable: true,
      })
    await bulk.clock.sleep(signEveryMs(leaseMs) / 2)
    seen = await readCheckpoint(bulk.connection, names)
  }
  return undefined
}

/** Throws when a loader must not go on from there. */
const requireLoadable = (stored: Checkpoint, names: Names, url: string, identity: Identity): void => {
  requireServed(stored, names, url, identity)
  if (stored.mending) throw unfinishedRepair(`${url}/${names.prefix}`)
}

/** Throws when nobody must write there. */
export const requireServed = (stored: Checkpoint, names: Names, url: string, identity: Identity): void => {
  const { generations, retired } = stored
  // Retryable: the next look finds what is served then.
  if (retired !== undefined || !Bun.deepEquals(generations ?? {}, names.generations))
    throw new Failure('unavailable', `A migration is replacing the indices of ${names.prefix} at ${url}.`, {
      help: 'If none is running, one was stopped right before its end. Run iostlens indices migrate again.',
    })
  requireIdentity(stored, identity, `${url}/${names.prefix}`)
}

const emptyCheckpoint = (
  names: Names,
  identity: Identity,
): Omit<Checkpoint, 'owner' | 'renewed' | 'write'> => ({
  schema: SCHEMA,
  chainId: identity.chainId,
  genesis: identity.genesis,
  derivation: identity.derivation,
  partitions: FIRST_PARTITION,
  generations: names.generations,
  filling: NOTHING_FILLED,
  batch: '',
  parts: 0,
})

const requireIdentity = (stored: Checkpoint, wanted: Identity, store: string): void => {
  checkIdentity(store, stored, wanted)
  if (stored.schema !== SCHEMA)
    throw new Failure(
      'conflict',
      `${store} has documents of schema ${stored.schema}, but the loader needs ${SCHEMA}.`,
      {
        help: 'Run: iostlens indices migrate. Or use the version that loaded the store.',
      },
    )
}
