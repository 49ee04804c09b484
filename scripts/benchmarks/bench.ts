import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Elastic } from './elastic.ts'
import type { Client } from './lean-client.ts'
import type { Verdict } from './verdicts.ts'

/** The environment of every section. */
export type Bench = {
  readonly elastic: Elastic
  /** Prefix of all index names; these indices are always removed at the end. */
  readonly prefix: string
  /** Folder of this run. */
  readonly work: string
  /** Client that measures the services. */
  readonly client: Client
  /** Seconds of each turn of the client. */
  readonly seconds: number
  /** Maximum number of answers in a turn; undefined: no limit. */
  readonly most: number | undefined
  /** Number of turns for each side of a ratio. */
  readonly rounds: number
  /** Process id of Elasticsearch, if it runs on this machine. */
  readonly elasticPid: number | undefined
  /** Records how far a promise was kept; all verdicts are shown at the end. */
  readonly judge: (verdict: Verdict) => void
}

/** Elasticsearch comes first: the floors of all pages consist of rows loaded into it. */
export const STORES = ['Elasticsearch', 'SQLite'] as const
export type StoreName = (typeof STORES)[number]

/** A store created by this run. */
export type Place = {
  readonly kind: StoreName
  /** Value of `--store`. */
  readonly store: string
  /** Path of the file, or prefix of the indices. */
  readonly path: string
}

export const placeOf = ({ elastic, prefix, work }: Bench, kind: StoreName, name: string): Place => {
  if (kind === 'Elasticsearch') return { kind, path: `${prefix}-${name}`, store: `${elastic.url}/${prefix}-${name}` }
  const folder = join(work, name)
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'store.sqlite')
  return { kind, path, store: `sqlite:${path}` }
}
