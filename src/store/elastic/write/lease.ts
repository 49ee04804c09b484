import { tryParseJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import { NOTHING_FILLED } from '#store/batch.ts'
import { unfinishedRepair } from '#store/failures.ts'
import { checkIdentity } from '#store/identity.ts'
import type { Identity } from '#store/port.ts'
import { toMembers } from '#store/published.ts'
import type { TryResult } from '#time/retry.ts'
import type { SeqNo } from '../client/request.ts'
import {
  BLOCKED,
  type ElasticResponse,
  formatReason,
  isTransient,
  NO_WRITE_INDEX,
  parseError,
  readFailure,
} from '../client/request.ts'
import { toRetryReason, tryAgain } from '../client/sender.ts'
import { type Checkpoint, readCheckpoint, toCheckpointRequest } from '../schema/checkpoint.ts'
import { awaitStarted, requireEmptyStore } from '../schema/create-indices.ts'
import { SCHEMA } from '../schema/mappings.ts'
import { type Cluster, FIRST_PARTITION } from '../schema/names.ts'

type StoredCheckpoint = SeqNo & { readonly checkpoint: Checkpoint }

/**
 * Writes the checkpoint if it has not changed since it was read; undefined: another process wrote it. After an unclear
 * answer the same compare-and-set is sent again. If the first attempt was not carried out, the second one may be; if it
 * was, the second one is refused, and the stored checkpoint has the name of this write.
 */
export async function compareAndSet(
  cluster: Cluster,
  next: Omit<Checkpoint, 'write'>,
  expected: SeqNo | undefined,
): Promise<StoredCheckpoint | undefined> {
  const { names } = cluster
  const checkpoint = { ...next, write: crypto.randomUUID() }
  const request = { ...toCheckpointRequest(names, checkpoint, expected), timeoutMs: cluster.writeTimeoutMs }
  return tryAgain(cluster, async (): Promise<TryResult<StoredCheckpoint | undefined>> => {
    const answer = await cluster.connection.send(request).catch(toRetryReason)
    if (typeof answer === 'string') return { retryReason: answer }
    const written = answer.status < 300 ? parseWritten(answer) : undefined
    if (written !== undefined) return { done: { checkpoint, ...written } }
    const error = parseError(answer)
    if (answer.status === 409 || answer.status < 300)
      return resolveConflict(cluster, { checkpoint, expected }, formatReason(error))
    // A migration has replaced the generation.
    if (answer.status === 400 && error.reason?.startsWith(NO_WRITE_INDEX)) return { done: undefined }
    if (isTransient(answer.status) || error.type === BLOCKED) return { retryReason: formatReason(error) }
    throw readFailure({ connection: cluster.connection, what: `write ${names.meta}` }, answer)
  })
}

/**
 * After a write that was refused, or whose answer lacks the sequence number: the stored checkpoint shows whether it was
 * carried out.
 */
async function resolveConflict(
  cluster: Cluster,
  { checkpoint, expected }: { readonly checkpoint: Checkpoint; readonly expected: SeqNo | undefined },
  reason: string,
): Promise<TryResult<StoredCheckpoint | undefined>> {
  const now = await readCheckpoint(cluster)
  // The stored write is an earlier attempt whose answer was lost. One copy has it; only the answer to a write
  // proves that all copies do.
  if (now?.checkpoint.write === checkpoint.write) return { done: await compareAndSet(cluster, checkpoint, now) }
  // If this copy shows no other write, it lags, or the copy that refused is gone with the other write.
  const isUnchanged = now?.seqNo === expected?.seqNo && now?.primaryTerm === expected?.primaryTerm
  return isUnchanged ? { retryReason: reason } : { done: undefined }
}

/** undefined: the answer to the write cannot be read. */
function parseWritten({ text }: ElasticResponse): SeqNo | undefined {
  const { _seq_no: seqNo, _primary_term: primaryTerm } = toMembers(tryParseJson(text)) ?? {}
  return Number.isInteger(seqNo) && Number.isInteger(primaryTerm) ? ({ seqNo, primaryTerm } as SeqNo) : undefined
}

function getSignMs(leaseMs: number): number {
  return Math.max(1, Math.floor(leaseMs / 3))
}

/**
 * Takes the lease for a new random owner. While another loader has it, waits until that loader renews it
 * ('conflict') or until it expires after `leaseMs`. If that loader is alive after all, its next commit fails:
 * safety does not depend on clocks. `require` throws if the checkpoint must not be continued.
 */
export async function acquireLease(cluster: Cluster, identity: Identity, require = requireLoadable): Promise<Lease> {
  const { names } = cluster
  const seen = await awaitFreeCheckpoint(cluster, stored => require(cluster, stored, identity))
  if (seen === undefined) await awaitStarted(() => requireEmptyStore(cluster), cluster.clock)
  const { chainId, genesis, derivation } = identity
  const { generations } = names
  const nothing = { partitions: FIRST_PARTITION, generations, filling: NOTHING_FILLED, batch: '' }
  const empty = { schema: SCHEMA, chainId, genesis, derivation, ...nothing }
  const next = { ...(seen?.checkpoint ?? empty), owner: crypto.randomUUID(), renewed: cluster.clock.now() }
  const held = await compareAndSet(cluster, next, seen)
  if (held === undefined)
    throw new Failure('conflict', `Another loader has just locked ${names.prefix}.`, { retryable: true })
  return keepLease(cluster, held)
}

async function awaitFreeCheckpoint(
  cluster: Cluster,
  require: (stored: Checkpoint) => void,
): Promise<StoredCheckpoint | undefined> {
  const { names, leaseMs, clock } = cluster
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
    // One write of a killed loader may still arrive late. Because of compare-and-set a second one cannot.
    if (signs === 2)
      throw new Failure('conflict', `Another loader is writing ${names.prefix} at ${cluster.connection.url}.`, {
        help: 'Stop it first; a store can have only one loader.',
        retryable: true,
      })
    await clock.sleep(getSignMs(leaseMs) / 2)
    seen = await readCheckpoint(cluster)
  }
  return undefined
}

function requireLoadable(cluster: Cluster, stored: Checkpoint, identity: Identity): void {
  requireServed(cluster, stored, identity)
  if (stored.mending) throw unfinishedRepair(`${cluster.connection.url}/${cluster.names.prefix}`)
}

export function requireServed({ connection: { url }, names }: Cluster, stored: Checkpoint, identity: Identity): void {
  const { generations, retired } = stored
  // Retryable: the next try finds the generation that is served then.
  if (retired !== undefined || !Bun.deepEquals(generations, names.generations))
    throw new Failure('unavailable', `A migration is replacing the indices of ${names.prefix} at ${url}.`, {
      help: "If none is running, one was stopped right before its end. Run 'iostlens indices migrate' again.",
    })
  const store = `${url}/${names.prefix}`
  checkIdentity(store, stored, identity)
  if (stored.schema !== SCHEMA)
    throw new Failure(
      'conflict',
      `${store} has documents of schema ${stored.schema}, but the loader needs ${SCHEMA}.`,
      { help: "Run: 'iostlens indices migrate'. Or use the version that loaded the store." },
    )
}

/** The checkpoint while this process has the lease. */
export type Lease = ReturnType<typeof keepLease>

/** Keeps a lease: renews it, changes the checkpoint one write at a time, and releases it. */
function keepLease(cluster: Cluster, acquired: StoredCheckpoint) {
  const { names, leaseMs } = cluster
  let held = acquired
  let state: 'held' | 'lost' | 'released' = 'held'
  let turn: Promise<unknown> = Promise.resolve()
  const requireLease = (): void => {
    if (state === 'held') return
    throw new Failure(
      'conflict',
      state === 'lost' ? `Another loader has taken over ${names.prefix}.` : `This loader has released ${names.prefix}.`,
      { retryable: state === 'lost' },
    )
  }
  const set = (next: Partial<Omit<Checkpoint, 'write'>>): Promise<void> => {
    const done = turn.then(async () => {
      requireLease()
      const { write: _, ...current } = held.checkpoint
      const set = await compareAndSet(cluster, { ...current, renewed: cluster.clock.now(), ...next }, held)
      if (set === undefined) state = 'lost'
      else held = set
      requireLease()
    })
    turn = done.catch(() => {})
    return done
  }
  let signing = false
  const timer = setInterval(() => {
    if (signing || state !== 'held') return
    signing = true
    // If the lease is lost, the next commit throws. If Elasticsearch is unreachable, events report it and the
    // next renewal tries again.
    set({})
      .catch(() => {})
      .finally(() => {
        signing = false
      })
  }, getSignMs(leaseMs))
  timer.unref()
  const stop = (): void => clearInterval(timer)
  const isOld = (): boolean => Math.abs(cluster.clock.now() - held.checkpoint.renewed) > leaseMs / 2
  const release = async (): Promise<void> => {
    stop()
    if (state === 'held')
      await set({ owner: '' }).catch(error => {
        if (state === 'held') throw error
      })
    if (state === 'held') state = 'released'
  }
  return {
    cluster: { ...cluster, requireLease },
    checkpoint: () => held.checkpoint,
    set,
    renew: () => set({}),
    /** Renews the lease if this process may have been suspended, or its clock was set back: another loader may have it. */
    requireFresh: () => (isOld() ? set({}) : Promise.resolve()),
    stop,
    release,
  }
}
