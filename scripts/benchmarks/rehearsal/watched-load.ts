import { loadavg } from 'node:os'
import { BINARY, cpuOf, watched } from '../processes.ts'
import { type Interval, intervalLine } from './interval.ts'
import type { Kept } from './kept.ts'
import { archiveOf, type Place } from './place.ts'

export type Loading = {
  readonly to: number
  /** Length of an interval in seconds. */
  readonly every: number
  /** Seconds after which the load is stopped; undefined: it runs to its end. */
  readonly most: number | undefined
  /** Further flags of the load. */
  readonly more: readonly string[]
  readonly say: (line: string) => void
}

type Line = {
  readonly message: string
  readonly blocks: number
  readonly transactions: number
  readonly records: number
  readonly height: number
}

/** Continues the load of a chain from its archive, and records the cost of each interval. */
export const watchedLoad = async (place: Place, kept: Kept, loading: Loading): Promise<void> => {
  const { to, every, most, more, say } = loading
  const load = ['load', '--node', `archive:${archiveOf(place)}`, '--store', place.store, '--once']
  const log = ['--log-level', 'info', '--log-format', 'json']
  const child = watched(place.folder, [BINARY, ...load, '--to', `${to}`, ...log, ...more])
  const look = async () => ({
    at: performance.now(),
    cpu: (await cpuOf(child.pid)) ?? before.cpu,
    elasticCpu: await cpuOf(place.elastic?.pid),
  })
  let before = { at: performance.now(), cpu: 0, elasticCpu: await cpuOf(place.elastic?.pid) }
  let [last, sum, samples] = [before, NOTHING, 0]
  const note = async (): Promise<void> => {
    if (sum.documents === 0) return
    const elasticCpu = (last.elasticCpu ?? 0) - (before.elasticCpu ?? 0)
    const interval: Interval = {
      ...sum,
      seconds: (last.at - before.at) / 1_000,
      cpu: last.cpu - before.cpu,
      ...(last.elasticCpu === undefined ? {} : { elasticCpu }),
      memory: Math.max(0, ...child.memory.slice(Math.max(0, samples - 1))),
      bytes: await place.bytes(),
      load: loadavg()[0] ?? 0,
    }
    kept.note(interval)
    say(intervalLine(interval))
    before = last
    sum = NOTHING
    samples = child.memory.length
  }
  const timer = most === undefined ? undefined : setTimeout(child.end, most * 1_000)
  for await (const text of child.lines) {
    const line = lineIn(text)
    if (line === undefined) continue
    last = await look()
    sum = added(sum, line)
    if (last.at - before.at >= every * 1_000) await note()
  }
  clearTimeout(timer)
  await note()
  await child.ended
}

const NOTHING = { height: -1, blocks: 0, transactions: 0, documents: 0 }

const added = (sum: typeof NOTHING, { height, blocks, transactions, records }: Line): typeof NOTHING => ({
  height,
  blocks: sum.blocks + blocks,
  transactions: sum.transactions + transactions,
  documents: sum.documents + blocks + transactions + records,
})

/** A log line about a committed batch; undefined for other lines. */
const lineIn = (text: string): Line | undefined => {
  if (!text.startsWith('{')) return undefined
  const line = JSON.parse(text) as Line
  return line.message === 'Committed a batch.' ? line : undefined
}
