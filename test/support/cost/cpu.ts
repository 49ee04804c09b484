/** Repetitions of a measurement: other work of the process makes a single one too long. */
const REPEATS = 6
/** Other work never makes two runs this many times as long: they need no repetition. */
const CLEARLY = 8

/**
 * The CPU time of a task in milliseconds: the least of a few runs, or the first one within `enough`. It does not depend
 * on how busy the machine is. The task gets the number of the run, so that no answer is a kept one.
 */
export async function cpuOf(task: (run: number) => unknown, enough = 0): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let run = 0; run < REPEATS && least > enough; run++) {
    if (enough > 0 && run > 1 && least > CLEARLY * enough) break
    const before = process.cpuUsage()
    await task(run)
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1_000)
  }
  return least
}
