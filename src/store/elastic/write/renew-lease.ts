import { Failure } from '#failure/failure.ts'
import type { Bulk } from '../client/bulk.ts'
import type { Checkpoint } from '../schema/checkpoint.ts'
import type { Names } from '../schema/names.ts'
import { compareAndSet, type Held } from './compare-and-set.ts'
import { signEveryMs } from './lease.ts'

type Next = Partial<Omit<Checkpoint, 'write'>>

/** The checkpoint while it is held: signs of life, changes one after the other, and the end of it. */
export const keepHold = (bulk: Bulk, names: Names, acquired: Held, leaseMs: number) => {
  let held = acquired
  let state: 'held' | 'lost' | 'released' = 'held'
  let turn: Promise<unknown> = Promise.resolve()
  const requireHold = (): void => {
    if (state === 'held') return
    throw new Failure(
      'conflict',
      state === 'lost'
        ? `Another loader has taken over ${names.prefix}.`
        : `This loader has released ${names.prefix}.`,
      { retryable: state === 'lost' },
    )
  }
  const set = (next: Next): Promise<void> => {
    const done = turn.then(async () => {
      requireHold()
      const { write: _, ...current } = held.checkpoint
      const set = await compareAndSet(bulk, names, { ...current, renewed: bulk.clock.now(), ...next }, held)
      if (set === undefined) state = 'lost'
      else held = set
      requireHold()
    })
    turn = done.catch(() => {})
    return done
  }
  let signing = false
  const timer = setInterval(() => {
    if (signing || state !== 'held') return
    signing = true
    // Lost: the next commit says so. Out of reach: told by events, tried again at the next sign.
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
  return { checkpoint: () => held.checkpoint, requireHold, set, renew: () => set({}), stop, release }
}
