import type { Apart } from '#actions/define.ts'
import type { Clock } from '#time/clock.ts'
import { type FairQueue, fairQueue, type Limits } from './fair-queue.ts'

/**
 * Where requests wait for their turn. What nodes are asked has turns of its own: a node that hangs takes none from
 * answers out of the store.
 */
export type Queues = {
  /** Answers out of the store. */
  readonly store: FairQueue
  /** `/rpc/`. */
  readonly node: FairQueue
  /** Answers that need a node for what is not stored; each keeps a view of the store meanwhile. */
  readonly aside: FairQueue
}

/** The turns of one caller. */
export type Turns = {
  /** Runs `work` on the store; it may wait for a node apart, which gives its place to the next. */
  store<T>(work: (apart: Apart) => Promise<T>): Promise<T>
  node<T>(work: () => Promise<T>): Promise<T>
}

/** Nobody's answer is worth more than a second of waiting for its turn. */
const AGE_MS = 1_000
/** Requests that wait for each one that is worked on: what waits longer than `AGE_MS` is refused anyway. */
const WAITING = 8

/** As many as a node answers side by side; one key has an eighth of them. */
const NODE = { running: 64, runningOfKey: 8, waiting: 128, waitingOfKey: 16 } as const
/** Together fewer than the embedded store's readers. */
const ASIDE = { running: 16, runningOfKey: 4, waiting: 16, waitingOfKey: 4 } as const

/** One key has at most half of what is worked on and a quarter of what waits. */
const shared = (running: number): Omit<Limits, 'ageMs'> => ({
  running,
  runningOfKey: Math.ceil(running / 2),
  waiting: running * WAITING,
  waitingOfKey: Math.ceil((running * WAITING) / 4),
})

export const queuesFor = (options: {
  readonly maxInFlight: number
  readonly deadlineMs: number
  readonly clock: Clock
}): Queues => {
  const { maxInFlight, deadlineMs, clock } = options
  // A request that waited for half of its time has too little left.
  const ageMs = Math.min(AGE_MS, deadlineMs / 2)
  const queue = (limits: Omit<Limits, 'ageMs'>) => fairQueue({ ...limits, ageMs }, clock)
  return { store: queue(shared(maxInFlight)), node: queue(NODE), aside: queue(ASIDE) }
}

export const turnsOf = ({ store, node, aside }: Queues, key: string, signal: AbortSignal): Turns => ({
  store: work =>
    store.run(
      key,
      place =>
        work(ask => {
          place.leave()
          return aside.run(key, ask, signal)
        }),
      signal,
    ),
  node: work => node.run(key, work, signal),
})
