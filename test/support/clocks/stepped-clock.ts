import type { Clock } from '#node/clock.ts'

export type SteppedClock = Clock & {
  /** Lets time pass: what falls due runs in its order, and everything that follows from it without time passing. */
  step(ms: number): Promise<void>
  /** Resolves as soon as so many things wait for the time `ms` from now. */
  awaited(ms: number, count?: number): Promise<void>
}

/** Time that stands still until a test moves it. */
export const steppedClock = (): SteppedClock => {
  let now = 0
  const waiting = new Set<{ readonly at: number; readonly work: () => void }>()
  const after: Clock['after'] = (ms, work) => {
    const waiter = { at: now + ms, work }
    waiting.add(waiter)
    return () => {
      waiting.delete(waiter)
    }
  }
  return {
    now: () => now,
    after,
    sleep: (ms, signal) =>
      new Promise(resolve => {
        if (signal?.aborted === true || ms <= 0) return resolve()
        const cancel = after(ms, resolve)
        signal?.addEventListener('abort', () => {
          cancel()
          resolve()
        })
      }),
    random: () => 0.5,
    step: async ms => {
      const until = now + ms
      for (;;) {
        const next = [...waiting].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)[0]
        if (next === undefined) break
        waiting.delete(next)
        now = next.at
        next.work()
        await turn()
      }
      now = until
    },
    awaited: async (ms, count = 1) => {
      while ([...waiting].filter(({ at }) => at === now + ms).length !== count) await turn()
    },
  }
}

/** Other work has its turn. */
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
