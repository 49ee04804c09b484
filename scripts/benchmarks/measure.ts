/** Times of many calls, milliseconds. */
export type Times = { readonly p50: number; readonly p99: number; readonly perSecond: number }

/** Asks `count` times with `clients` at once, after a tenth of it unmeasured. */
export const timed = async (
  count: number,
  clients: number,
  ask: (n: number) => Promise<unknown>,
): Promise<Times> => {
  const run = async (calls: number): Promise<readonly number[]> => {
    const times: number[] = []
    let next = 0
    const client = async (): Promise<void> => {
      for (let n = next++; n < calls; n = next++) {
        const start = performance.now()
        await ask(n)
        times.push(performance.now() - start)
      }
    }
    await Promise.all(Array.from({ length: clients }, client))
    return times
  }
  await run(Math.ceil(count / 10))
  const start = performance.now()
  const times = [...(await run(count))].sort((a, b) => a - b)
  const seconds = (performance.now() - start) / 1_000
  const at = (share: number): number =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
  return { p50: at(0.5), p99: at(0.99), perSecond: count / seconds }
}

/** Rows of a table under a heading, columns aligned. */
export const table = (heading: readonly string[], rows: readonly (readonly string[])[]): string => {
  const all = [heading, ...rows]
  const widths = heading.map((_, column) => Math.max(...all.map(row => row[column]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [line(heading), `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`, ...rows.map(line)].join(
    '\n',
  )
}

export const whole = (value: number): string => Math.round(value).toLocaleString('en')
export const fixed = (value: number, digits = 2): string => value.toFixed(digits)

/** Resident memory of a process in MB, now. */
export const memoryOf = async (pid: number): Promise<number> => {
  const status = await Bun.file(`/proc/${pid}/status`).text()
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024
}
