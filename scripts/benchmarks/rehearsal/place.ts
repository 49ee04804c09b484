import { statSync } from 'node:fs'
import { join } from 'node:path'
import { bytesOf, type Elastic, elasticAt } from '../elastic.ts'
import { machine } from '../machine.ts'

/** Chains of a rehearsal, by the profile of `scripts/generate-chain`. */
export type Chain = 'sparse' | 'busy'

/** The store of one chain. */
export type Place = {
  readonly chain: Chain
  readonly folder: string
  /** Value of `--store`. */
  readonly store: string
  /** The server of an Elasticsearch store; absent for SQLite. */
  readonly elastic?: { readonly server: Elastic; readonly prefix: string; readonly pid: number | undefined }
  readonly bytes: () => Promise<number>
}

/** The place for a chain. `store` is `sqlite`, or the URL of Elasticsearch with a prefix. */
export const placeOf = async (folder: string, store: string, chain: Chain): Promise<Place> => {
  if (store === 'sqlite') {
    const path = join(folder, `${chain}.sqlite`)
    const bytes = async (): Promise<number> => bytesIn(path) + bytesIn(`${path}-wal`)
    return { chain, folder, store: `sqlite:${path}`, bytes }
  }
  const slash = store.lastIndexOf('/')
  const [url, prefix] = [store.slice(0, slash), `${store.slice(slash + 1)}-${chain}`]
  const server = elasticAt(url)
  return {
    ...{ chain, folder, store: `${url}/${prefix}` },
    elastic: { server, prefix, pid: (await machine(server)).elasticPid },
    bytes: () => bytesOf(server, `${prefix}-*`),
  }
}

export const bytesIn = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

export const archiveOf = ({ folder, chain }: Place): string => join(folder, `${chain}-archive`)
