import { turn, until } from '#test/support/wait.ts'
import { type Clock, sleepBy } from '#time/clock.ts'

/** Time that passes only by hand; what comes due runs in its order. */
export type HandClock = Clock & {
  /** Lets time pass, and all that follows from it happen. */
  pass(ms: number): Promise<void>
  /** Time has passed, and nothing could happen meanwhile. */
  leap(ms: number): void
  /** Lets everything happen that needs no time. */
  settle(): Promise<void>
  /** Resolves as soon as exactly `count` things wait for the time `ms` from now. */
  awaited(ms: number, count?: number): Promise<void>
  /** Whether something waits for the time `ms` from now. */
  isAwaited(ms: number): boolean
}

export const handClock = (start = 0): HandClock => {
  let time = start
  const due = new Set<{ readonly at: number; readonly work: () => void }>()
  const after: Clock['after'] = (ms, work) => {
    const item = { at: time + ms, work }
    due.add(item)
    return () => due.delete(item)
  }
  return {
    now: () => time,
    elapsed: () => time,
    after,
    sleep: (ms, signal) => (ms <= 0 ? Promise.resolve() : sleepBy(after, ms, signal)),
    random: () => 0.5,
    settle,
    leap: ms => {
      time += ms
    },
    pass: async ms => {
      const end = time + ms
      for (;;) {
        const next = [...due].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0]
        if (next === undefined) break
        due.delete(next)
        time = Math.max(time, next.at)
        next.work()
        await settle()
      }
      time = end
      await settle()
    },
    isAwaited: ms => [...due].some(({ at }) => at === time + ms),
    awaited: async (ms, count = 1) => {
      await until(() => [...due].filter(({ at }) => at === time + ms).length === count, 0)
    },
  }
}

/** What one turn of the event loop sets going happens in the next. */
const settle = async (): Promise<void> => {
  await turn()
  await turn()
}
