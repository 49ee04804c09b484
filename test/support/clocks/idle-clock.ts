import type { Clock } from '#time/clock.ts'
import { patientClock } from './patient-clock.ts'

/** A clock that advances by the slept time without waiting. Time-outs are those of `patientClock`. */
export function idleClock(): Clock & { readonly slept: readonly number[] } {
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
