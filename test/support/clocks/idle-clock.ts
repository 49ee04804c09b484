import type { Clock } from '#time/clock.ts'
import { patientClock } from './patient-clock.ts'

/** Time that passes only by sleeping, without waiting; remembers how long was slept. Time-outs are patient. */
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
    after: patientClock.after,
    random: () => 0.5,
  }
}
