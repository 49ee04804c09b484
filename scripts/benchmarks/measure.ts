/** Durations of many calls, in milliseconds. */
export type Times = Shares & { readonly perSecond: number }
/** Median and 99th percentile. */
export type Shares = { readonly p50: number; readonly p99: number }

/** A call to repeat; `n` is 0, 1, 2 …, never the same twice. */
export type Ask = { readonly name: string; readonly ask: (n: number) => Promise<unknown> }

/** Number of turns of each ask, so that slow changes of the machine affect all of them. */
const ROUNDS = 10

/**
 * Measures each ask with `calls` calls, `clients` at a time. The asks take turns, after an unmeasured tenth
 * of the calls, so that ratios between them are of the same time.
 */
export const interleaved = async (
  asks: readonly Ask[],
  { calls, clients }: { readonly calls: number; readonly clients: number },
): Promise<readonly Times[]> => {
  const taken = asks.map(() => ({ next: 0, times: [] as number[], ms: 0 }))
  const turn = async (at: number, count: number, isMeasured: boolean): Promise<void> => {
    const [own, one] = [taken[at], asks[at]]
    if (own === undefined || one === undefined) return
    const end = own.next + count
    const client = async (): Promise<void> => {
      while (own.next < end) {
        const n = own.next++
        const start = performance.now()
        await one.ask(n)
        if (isMeasured) own.times.push(performance.now() - start)
      }
    }
    const start = performance.now()
    await Promise.all(Array.from({ length: clients }, client))
    if (isMeasured) own.ms += performance.now() - start
  }
  for (let at = 0; at < asks.length; at++) await turn(at, Math.ceil(calls / 10), false)
  for (let round = 0; round < ROUNDS; round++)
    for (let at = 0; at < asks.length; at++) await turn(at, Math.ceil(calls / ROUNDS), true)
  return taken.map(({ times, ms }) => ({ ...sharesOf(times), perSecond: (1_000 * times.length) / ms }))
}

export const sharesOf = (times: readonly number[]): Shares => {
  const sorted = times.toSorted((a, b) => a - b)
  const share = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
  return { p50: share(0.5), p99: share(0.99) }
}

/** Formats rows under a heading as a Markdown table with aligned columns. */
export const table = (heading: readonly string[], rows: readonly (readonly string[])[]): string => {
  const all = [heading, ...rows]
  const widths = heading.map((_, column) => Math.max(3, ...all.map(row => row[column]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    `| ${heading.map((_, column) => (row[column] ?? '').padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [line(heading), `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`, ...rows.map(line)].join('\n')
}

export const whole = (value: number): string => Math.round(value).toLocaleString('en')
export const fixed = (value: number, digits = 2): string => value.toFixed(digits)
