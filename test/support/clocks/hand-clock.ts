import { turn, until } from '#test/support/wait.ts'
import { awaitTimer, type Clock } from '#time/clock.ts'

export type HandClock = ReturnType<typeof handClock>

/** A clock that only a test advances. Due timers run in their order. */
export function handClock(start = 0) {
  let time = start
  const due = new Set<{ readonly at: number; readonly work: () => void }>()
  const after: Clock['after'] = (ms, work) => {
    const item = { at: time + ms, work }
    due.add(item)
    return () => due.delete(item)
  }
  const clock: Clock = {
    now: () => time,
    elapsed: () => time,
    after,
    sleep: (ms, signal) => (ms <= 0 ? Promise.resolve() : awaitTimer(after, ms, signal)),
    random: () => 0.5,
  }
  return {
    ...clock,
    settle,
    /** Advances the time without running any timer. */
    leap: (ms: number): void => {
      time += ms
    },
    /** Advances the time and runs all due timers and the work that follows from them. */
    pass: async (ms: number): Promise<void> => {
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
    isAwaited: (ms: number) => [...due].some(({ at }) => at === time + ms),
    /** Resolves as soon as exactly `count` timers are due `ms` from now. */
    awaited: (ms: number, count = 1) => until(() => [...due].filter(({ at }) => at === time + ms).length === count, 0),
  }
}

/** Lets all work finish that needs no time. Work that one turn of the event loop starts may run in the next turn. */
async function settle(): Promise<void> {
  await turn()
  await turn()
}
