import { Failure } from '#failure/failure.ts'
import type { Checkpoint } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import { signEveryMs } from './acquire-lease.ts'
import { compareAndSet, type StoredCheckpoint } from './compare-and-set.ts'

/** The checkpoint while this process has the lease. */
export type Lease = ReturnType<typeof keepLease>

type Next = Partial<Omit<Checkpoint, 'write'>>

/** Keeps a lease: renews it, changes the checkpoint one write at a time, and releases it. */
export const keepLease = (cluster: Cluster, acquired: StoredCheckpoint) => {
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
  const set = (next: Next): Promise<void> => {
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
  }, signEveryMs(leaseMs))
  timer.unref()
  const stop = (): void => clearInterval(timer)
  const release = async (): Promise<void> => {
    stop()
    if (state === 'held')
      await set({ owner: '' }).catch(error => {
        if (state === 'held') throw error
      })
    if (state === 'held') state = 'released'
  }
  return {
    /** For writes under this lease. */
    cluster: { ...cluster, requireLease },
    checkpoint: () => held.checkpoint,
    set,
    renew: () => set({}),
    /** Renews the lease if this process may have been suspended: another loader could have taken over since. */
    requireFresh: () => (cluster.clock.now() - held.checkpoint.renewed > leaseMs / 2 ? set({}) : Promise.resolve()),
    stop,
    release,
  }
}
