import { fixed, table, whole } from '../measure.ts'

/** One line of the table. Values that do not apply are absent. */
export type Row = {
  readonly step: string
  /** Number of the items named by `of`. */
  readonly count?: number
  readonly of?: 'blocks' | 'documents' | 'requests'
  readonly seconds?: number
  /** CPU seconds of the program and of Elasticsearch. */
  readonly cpu?: number
  readonly elasticCpu?: number | undefined
  /** Maximum resident memory, MB. */
  readonly peak?: number
  /** Median and 99th percentile in milliseconds. */
  readonly p50?: number
  readonly p99?: number
  readonly bytes?: number
}

/** The maximum of memory samples; a program that ended before the first sample has none. */
export const peakOf = (samples: readonly number[]): Pick<Row, 'peak'> =>
  samples.length === 0 ? {} : { peak: Math.max(...samples) }

const HEADING = [
  ...['step', 'what', 'seconds', 'a second', 'CPU s', 'CPU µs each', 'Elasticsearch CPU s', 'µs each'],
  ...['peak MB', 'p50 ms', 'p99 ms', 'MB', 'bytes each'],
]

export const tableOf = (rows: readonly Row[]): string => table(HEADING, rows.map(cellsOf))

const cellsOf = ({ step, count, of, seconds, cpu, elasticCpu, peak, p50, p99, bytes }: Row): readonly string[] => {
  const each = (value: number | undefined, digits: number): string =>
    value === undefined || !count ? '' : fixed(value / count, digits)
  const micros = (cpuSeconds: number | undefined): string =>
    each(cpuSeconds === undefined ? undefined : cpuSeconds * 1e6, 1)
  return [
    step,
    count === undefined ? '' : `${whole(count)} ${of}`,
    shown(seconds, 1),
    count === undefined || !seconds ? '' : whole(count / seconds),
    ...[shown(cpu, 1), micros(cpu), shown(elasticCpu, 1), micros(elasticCpu)],
    ...[shown(peak, 0), shown(p50, 2), shown(p99, 2)],
    shown(bytes === undefined ? undefined : bytes / 1e6, 1),
    each(bytes, 1),
  ]
}

const shown = (value: number | undefined, digits: number): string => (value === undefined ? '' : fixed(value, digits))
