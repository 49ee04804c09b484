import { cpus, loadavg, totalmem } from 'node:os'

/** A row of a table; the names are the headings. Absent values stay empty. */
export type TableRow = Readonly<Record<string, string | number | undefined>>

/** Formats rows as a Markdown table with aligned columns, without empty ones; the first row has all headings. */
export function formatTable(rows: readonly TableRow[]): string {
  const heading = Object.keys(rows[0] ?? {}).filter(name => rows.some(row => row[name] !== undefined))
  const cells = rows.map(row => heading.map(name => formatCell(row[name])))
  const widths = heading.map((name, column) => Math.max(3, name.length, ...cells.map(row => row[column]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [line(heading), `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`, ...cells.map(line)].join('\n')
}

function formatCell(value: string | number | undefined): string {
  if (typeof value !== 'number') return value ?? ''
  if (!Number.isFinite(value)) return '–'
  return value >= 100 || Number.isInteger(value) ? Math.round(value).toLocaleString('en') : value.toPrecision(3)
}

/** A line about the machine, for the head of a report. */
export function describeMachine(): string {
  const [cpu] = cpus()
  const memory = `${(totalmem() / 2 ** 30).toFixed(1)} GiB`
  return `${cpus().length} × ${cpu?.model}, ${memory} memory, Bun ${Bun.version}; client, service and store share these cores.`
}

/** The load average and the time, for the end of a section. */
export function describeLoad(): string {
  const load = loadavg().map(each => each.toFixed(2))
  return `(load ${load.join(' ')}, ${new Date().toISOString().slice(11, 19)} UTC)`
}

/** Median and 99th percentile of durations. */
export function countShares(times: readonly number[]): { readonly p50: number; readonly p99: number } {
  const sorted = times.toSorted((a, b) => a - b)
  const share = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
  return { p50: share(0.5), p99: share(0.99) }
}
