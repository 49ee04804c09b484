/** The delay of the event loop. */
export type Lateness = {
  /** The longest delay of any callback in the event loop, in the last second or now, milliseconds. */
  ms(): number
  /** Notes a request. While requests arrive, the delay is measured 20 times a second, otherwise once. */
  noteRequest(): void
  stop(): void
}

const BUSY_MS = 50
/** A timer that fires 20 times a second costs an idle service more than all its other work. */
const IDLE_MS = 1_000
/** A service is idle after this number of measurements without a request between them. */
const QUIET_MEASUREMENTS = 40
/** How long a measurement counts. */
const KEPT_MS = 1_000

/** Sets one timer; the returned function clears it. */
type After = (ms: number, measure: () => void) => () => void

/**
 * Measures how late a timer fires, and calls `eachSecond` with `ms()` about once a second: a separate timer
 * would wake the process a second time. The timer does not keep the process running.
 */
export function watchLateness(
  eachSecond: (ms: number) => void,
  now: () => number = () => performance.now(),
  after: After = afterSystem,
): Lateness {
  let measured: readonly { readonly at: number; readonly late: number }[] = []
  let last = now()
  let period = IDLE_MS
  let quiet = QUIET_MEASUREMENTS
  let noted = last
  const late = (time: number): number => Math.max(0, time - last - period)
  const measure = (): void => {
    const time = now()
    measured = [...measured.filter(({ at }) => at > time - KEPT_MS), { at: time, late: late(time) }]
    last = time
    quiet += 1
    period = quiet > QUIET_MEASUREMENTS ? IDLE_MS : BUSY_MS
    clear = after(period, measure)
    if (time - noted < KEPT_MS) return
    noted = time
    eachSecond(ms())
  }
  const ms = (): number => Math.max(late(now()), ...measured.map(each => each.late))
  let clear = after(period, measure)
  return {
    ms,
    noteRequest: () => {
      quiet = 0
      if (period === BUSY_MS) return
      clear()
      measure()
    },
    stop: () => clear(),
  }
}

const afterSystem: After = (ms, measure) => {
  const timer = setTimeout(measure, ms)
  timer.unref()
  return () => clearTimeout(timer)
}
