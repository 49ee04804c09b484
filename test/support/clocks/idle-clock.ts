import { type Clock, systemClock } from '#time/clock.ts'

/**
 * A clock that advances by the slept time without waiting, and records the sleeps. Time-outs use the
 * machine's clock.
 */
export const idleClock = (): Clock & { readonly slept: readonly number[] } => {
  let now = 0
  const slept: number[] = []
  return {
    slept,
    now: () => now,
    elapsed: () => now,
    sleep: async ms => {
      if (ms > 0) slept.push(ms)
      now += ms
    },
    after: systemClock.after,
    random: () => 0.5,
  }
}
