import type { Clock } from '#keys/clock.ts'

/** Time that passes only by hand; what comes due runs in its order. */
export type HandClock = Clock & {
  /** Lets time pass, and all that follows from it happen. */
  pass(ms: number): Promise<void>
  /** Time has passed, and nothing could happen meanwhile. */
  leap(ms: number): void
  /** Lets everything happen that needs no time. */
  settle(): Promise<void>
}

export const handClock = (start: number): HandClock => {
  let time = start
  const due = new Set<{ readonly at: number; readonly run: () => void }>()
  const turn = () => new Promise<void>(resolve => setImmediate(resolve))
  // What one turn of the event loop sets going happens in the next.
  const settle = async () => {
    await turn()
    await turn()
  }
  return {
    now: () => time,
    after: (ms, run) => {
      const item = { at: time + ms, run }
      due.add(item)
      return () => due.delete(item)
    },
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
        next.run()
        await settle()
      }
      time = end
      await settle()
    },
  }
}
