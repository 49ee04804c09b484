import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Elastic } from './elastic.ts'
import type { Asked } from './in-turns.ts'
import type { Client } from './lean-client.ts'
import { fixed, whole } from './measure.ts'
import {
  BINARY,
  type Cost,
  cpuOf,
  memoryOf,
  type Running,
  running,
  serving,
  unlimitedKey,
} from './processes.ts'
import { untilTaken } from './until-taken.ts'
import type { Verdict } from './verdicts.ts'

/** What every section works with. */
export type Bench = {
  readonly elastic: Elastic
  /** What the names of all indices begin with; they are removed at the end, whatever happens. */
  readonly prefix: string
  /** Folder of this run. */
  readonly work: string
  /** Rows, and transactions, of the filled stores. */
  readonly rows: number
  /** Holders of the filled stores' token. */
  readonly holders: number
  /** Documents of a sample. */
  readonly sample: number
  /** Asks the services. */
  readonly client: Client
  /** Seconds of each of its turns. */
  readonly seconds: number
  /** Answers after which a turn asks no more; undefined: it asks as long as it lasts. */
  readonly most: number | undefined
  /** How often each side of a ratio has its turn. */
  readonly rounds: number
  /** Measured calls of each kind, where they are counted. */
  readonly calls: number
  /** Process of Elasticsearch, when it runs on this machine. */
  readonly elasticPid: number | undefined
  /** Says how a promise was kept; all of them are shown at the end. */
  readonly judge: (verdict: Verdict) => void
}

/** Each request reads the store: what is measured is that, and not memory. */
const READING = ['--kept-answers', '0']

export const folderOf = (bench: Bench, name: string): string => {
  const path = join(bench.work, name)
  mkdirSync(path, { recursive: true })
  return path
}

export const STORES = ['Elasticsearch', 'SQLite'] as const
export type StoreName = (typeof STORES)[number]

/** A filled store behind the compiled file's service. */
export type Served = {
  /** Of the store, as tables say it. */
  readonly name: string
  readonly service: Running
  /** Answer of an action as text; throws unless it is 200. `query` as it stands behind the key. */
  readonly ask: (query: string) => Promise<string>
  /** Takes an export to its end, keeping nothing of it; throws unless it is 200. */
  readonly drain: (query: string) => Promise<{ readonly rows: number; readonly bytes: number }>
  /** Such queries as a lean client sends them. */
  readonly asked: (name: string, queries: readonly string[]) => Asked
  /** Resident memory since it listens, MB. */
  readonly memory: readonly number[]
  readonly stop: () => Promise<void>
}

/** Where a filled store stands, as the binary takes it. */
export const storeOf = (bench: Bench, name: StoreName): string =>
  name === 'SQLite' ? `sqlite:${sqlitePath(bench)}` : `${bench.elastic.url}/${bench.prefix}-fill`
export const sqlitePath = (bench: Bench): string => join(folderOf(bench, 'sqlite'), 'store.sqlite')

/** Fills a store, in a process of its own; one line about it. */
export const fill = async (bench: Bench, name: StoreName): Promise<string> => {
  const before = await cpuOf(bench.elasticPid)
  const args = ['--store', storeOf(bench, name), '--rows', `${bench.rows}`, '--holders', `${bench.holders}`]
  const cost: Cost = await running(bench.work, [process.execPath, join(import.meta.dir, 'fill.ts'), ...args])
  const { documents, seconds } = JSON.parse(cost.out) as { documents: number; seconds: number }
  const after = await cpuOf(bench.elasticPid)
  const elastic =
    name === 'SQLite' || before === undefined || after === undefined
      ? ''
      : `, ${fixed(after - before, 0)} CPU s of Elasticsearch`
  return `${name} was filled with ${whole(documents)} documents in ${fixed(seconds, 0)} s: ${whole(documents / seconds)} a second, ${fixed(cost.cpu, 0)} CPU s of the filler${elastic}.`
}

/** Serves a filled store. */
export const serve = async (bench: Bench, name: StoreName): Promise<Served> => {
  const folder = folderOf(bench, name.toLowerCase())
  const store = storeOf(bench, name)
  const service = await serving(folder, [
    BINARY,
    'serve',
    '--store',
    store,
    '--listen',
    '127.0.0.1:0',
    ...READING,
  ])
  const memory = memoryOf(service.pid)
  const key = await unlimitedKey(folder, store)
  const pathOf = (query: string): string => `/api/?apikey=${key}&${query}`
  return {
    name,
    service,
    ask: async query => {
      const answer = await untilTaken(() => fetch(service.url + pathOf(query)))
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${query}: ${answer.status} ${text}`)
      return text
    },
    drain: async query => {
      const answer = await untilTaken(() => fetch(service.url + pathOf(query)))
      if (!answer.ok) throw new Error(`${query}: ${answer.status} ${await answer.text()}`)
      let bytes = 0
      for await (const part of answer.body ?? []) bytes += part.length
      return { rows: Number(answer.headers.get('x-total-count')), bytes }
    },
    asked: (name, queries) => ({
      name,
      target: { url: service.url, paths: queries.map(pathOf) },
      pid: service.pid,
    }),
    memory: memory.samples,
    stop: async () => {
      memory.stop()
      await service.stop()
    },
  }
}
