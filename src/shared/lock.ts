/** Mutual exclusion over threads, for work of microseconds. */
export type Lock = {
  /** Runs `work` while no other thread does. It must wait for nothing and must not call `run` again. */
  run<T>(work: () => T): T
}

/** No thread has it. */
const FREE = 0
/** Tries before the thread sleeps: the work of another one is over within a few. */
const SPINS = 200
const SLEEP_MS = 1

/**
 * A lock in one number of shared memory. The number of the thread stands in it, so that `freeLock` finds what a dead
 * thread left behind.
 */
export const lockAt = (memory: Int32Array<SharedArrayBuffer>, at: number, thread: number): Lock => {
  const owner = thread + 1
  const take = (): void => {
    for (let tries = 1; Atomics.compareExchange(memory, at, FREE, owner) !== FREE; tries++) {
      const other = tries % SPINS === 0 ? Atomics.load(memory, at) : FREE
      if (other !== FREE) Atomics.wait(memory, at, other, SLEEP_MS)
    }
  }
  return {
    run: work => {
      take()
      try {
        return work()
      } finally {
        Atomics.store(memory, at, FREE)
        Atomics.notify(memory, at, 1)
      }
    },
  }
}

/** Frees what a thread that is dead had taken. */
export const freeLock = (memory: Int32Array<SharedArrayBuffer>, at: number, thread: number): void => {
  Atomics.compareExchange(memory, at, thread + 1, FREE)
  Atomics.notify(memory, at)
}
