import type { Clock } from '#node/clock.ts'

/** Time that passes only by sleeping, without waiting; remembers how long was slept. */
export const idleClock = (): Clock & { readonly slept: readonly number[] } => {
  let now = 0
  const slept: number[] = []
  return {
    slept,
    now: () => now,
    sleep: async ms => {
      if (ms > 0) slept.push(ms)
      now += ms
    },
    random: () => 0.5,
  }
}
