import { fixed, whole } from '../measure.ts'
import type { Row } from './row.ts'

/** Measurements of a load during some seconds. */
export type Interval = {
  /** Last block at the end of the interval. */
  readonly height: number
  readonly seconds: number
  readonly blocks: number
  readonly transactions: number
  /** Number of blocks, transactions and records. */
  readonly documents: number
  /** CPU seconds of the loader, and of Elasticsearch if it runs on this machine. */
  readonly cpu: number
  readonly elasticCpu?: number
  /** Maximum resident memory of the loader, MB. */
  readonly memory: number
  /** Size of the store at the end of the interval. */
  readonly bytes: number
  /** Load average of the machine at the end of the interval. */
  readonly load: number
}

/** A progress line about an interval. */
export const intervalLine = (interval: Interval): string => {
  const { height, seconds, blocks, transactions, documents, cpu, elasticCpu, memory, bytes, load } = interval
  const elastic = elasticCpu === undefined ? '' : ` + ${fixed((1e6 * elasticCpu) / documents, 1)} of Elasticsearch`
  return [
    `block ${whole(height)}`,
    `${whole(blocks / seconds)} blocks/s`,
    `${whole(transactions / seconds)} transactions/s`,
    `${whole(documents / seconds)} documents/s`,
    `CPU ${fixed((1e6 * cpu) / documents, 1)}${elastic} µs a document`,
    `${whole(memory)} MB`,
    `store ${whole(bytes / 1e6)} MB`,
    `load ${fixed(load, 1)}`,
  ].join(', ')
}

const QUARTERS = 4

/** Rows of the whole load, and of its quarters by documents, which should be similar. */
export const loadRows = (intervals: readonly Interval[]): readonly Row[] => {
  const all = sumOf(intervals)
  const quarters = Array.from({ length: QUARTERS }, (_, at) => at)
  let before = 0
  const inQuarter = Map.groupBy(intervals, ({ documents }) => {
    const middle = before + documents / 2
    before += documents
    return Math.floor((QUARTERS * middle) / all.documents)
  })
  const row = (step: string, of: readonly Interval[]): Row => {
    const { documents: count, seconds, cpu, elasticCpu, memory: peak } = sumOf(of)
    return { step, count, of: 'documents', seconds, cpu, elasticCpu, peak }
  }
  const bytes = intervals.at(-1)?.bytes
  return [
    { ...row('load', intervals), ...(bytes === undefined ? {} : { bytes }) },
    { ...row('load, by blocks', intervals), count: all.blocks, of: 'blocks' },
    ...quarters.flatMap(at => {
      const of = inQuarter.get(at)
      return of === undefined ? [] : [row(`load, quarter ${at + 1}`, of)]
    }),
  ]
}

const sumOf = (intervals: readonly Interval[]) => {
  const sum = (name: 'seconds' | 'blocks' | 'documents' | 'cpu'): number =>
    intervals.reduce((total, each) => total + each[name], 0)
  const isElastic = intervals.some(({ elasticCpu }) => elasticCpu !== undefined)
  return {
    ...{ seconds: sum('seconds'), blocks: sum('blocks'), documents: sum('documents'), cpu: sum('cpu') },
    elasticCpu: isElastic ? intervals.reduce((total, { elasticCpu = 0 }) => total + elasticCpu, 0) : undefined,
    memory: Math.max(0, ...intervals.map(({ memory }) => memory)),
  }
}
