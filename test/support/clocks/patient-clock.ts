import { type Clock, systemClock } from '#time/clock.ts'

/** So long that a machine that stands still for a while makes nothing too late. */
const LONGER = 100

/** The machine's time, by which time-outs come a hundred times later: only what never answers is given up. */
export const patientClock: Clock = {
  ...systemClock,
  after: (ms, work) => systemClock.after(LONGER * ms, work),
}
