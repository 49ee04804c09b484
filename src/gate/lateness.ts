/** How late this process is with what it has to do. */
export type Lateness = {
  /** The longest that anything had to wait for its turn of the event loop in the last second or now, milliseconds. */
  ms(): number
  stop(): void
}

const EVERY_MS = 50
/** So many looks are remembered. */
const KEPT_MS = 1_000

/** Measures how late a timer of 50 ms fires. Keeps no process running. */
export const watchLateness = (
  now: () => number = () => performance.now(),
  every: (ms: number, look: () => void) => () => void = everySystem,
): Lateness => {
  let looks: readonly { readonly at: number; readonly late: number }[] = []
  let last = now()
  const late = (time: number): number => Math.max(0, time - last - EVERY_MS)
  const stop = every(EVERY_MS, () => {
    const time = now()
    looks = [...looks.filter(({ at }) => at > time - KEPT_MS), { at: time, late: late(time) }]
    last = time
  })
  return { ms: () => Math.max(late(now()), ...looks.map(each => each.late)), stop }
}

const everySystem = (ms: number, look: () => void): (() => void) => {
  const timer = setInterval(look, ms)
  timer.unref()
  return () => clearInterval(timer)
}
