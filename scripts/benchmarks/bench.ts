import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Elastic } from './elastic.ts'
import type { Client } from './lean-client.ts'
import type { Verdict } from './verdicts.ts'

/** What every section works with. */
export type Bench = {
  readonly elastic: Elastic
  /** What the names of all indices begin with; they are removed at the end, whatever happens. */
  readonly prefix: string
  /** Folder of this run. */
  readonly work: string
  /** Asks the services. */
  readonly client: Client
  /** Seconds of each of its turns. */
  readonly seconds: number
  /** Answers after which a turn asks no more; undefined: it asks as long as it lasts. */
  readonly most: number | undefined
  /** How often each side of a ratio has its turn. */
  readonly rounds: number
  /** Process of Elasticsearch, when it runs on this machine. */
  readonly elasticPid: number | undefined
  /** Says how a promise was kept; all of them are shown at the end. */
  readonly judge: (verdict: Verdict) => void
}

/** Elasticsearch first: the floors of all pages are made of rows that were loaded into it. */
export const STORES = ['Elasticsearch', 'SQLite'] as const
export type StoreName = (typeof STORES)[number]

/** A store of this run. */
export type Place = {
  readonly kind: StoreName
  /** As the binary takes it. */
  readonly store: string
  /** File, or prefix of the indices. */
  readonly path: string
}

export const placeOf = ({ elastic, prefix, work }: Bench, kind: StoreName, name: string): Place => {
  if (kind === 'Elasticsearch')
    return { kind, path: `${prefix}-${name}`, store: `${elastic.url}/${prefix}-${name}` }
  const folder = join(work, name)
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'store.sqlite')
  return { kind, path, store: `sqlite:${path}` }
}
