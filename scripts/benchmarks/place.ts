import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openElastic } from '#store/elastic/open-elastic.ts'
import type { Store } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import type { Chain } from './chain.ts'
import { BINARY, runCommand, type Server, startServer } from './processes.ts'

export const STORES = ['sqlite', 'elasticsearch'] as const
type StoreKind = (typeof STORES)[number]

/** A store of a benchmark, and the options of the run. */
export type Place = {
  readonly kind: StoreKind
  readonly chain: Chain
  /** Folder of this store. */
  readonly folder: string
  /** Value of `--store`. */
  readonly store: string
  /** Path of the file, or prefix of the indices. */
  readonly path: string
  readonly elastic?: { readonly url: string; readonly pid: number | undefined }
  readonly options: RunOptions
}

type RunOptions = {
  /** Numbers of clients of the scenario `pages`. */
  readonly clients: readonly number[]
  /** Seconds of each turn of a client. */
  readonly seconds: number
  /** Number of turns for each target. */
  readonly rounds: number
  /** Number of readers of feeds. */
  readonly readers: number
}

type PlaceOptions = {
  readonly chain: Chain
  readonly folder: string
  readonly prefix: string
  readonly options: RunOptions
}

export async function createPlace(
  kind: StoreKind,
  { chain, folder: parent, prefix, options }: PlaceOptions,
): Promise<Place> {
  const folder = join(parent, `${chain.name}-${kind}`)
  mkdirSync(folder, { recursive: true })
  const common = { kind, chain, folder, options }
  if (kind === 'sqlite') {
    const path = join(folder, 'store.sqlite')
    return { ...common, path, store: `sqlite:${path}` }
  }
  const url = (process.env['ELASTICSEARCH_URL'] ?? '').replace(/\/+$/, '')
  const path = `${prefix}-${chain.name}`
  type Nodes = { readonly nodes: Readonly<Record<string, { readonly process: { readonly id: number } }>> }
  const { nodes } = await callElastic<Nodes>(url, 'GET /_nodes/process')
  const isHere = /^http:\/\/(127\.|localhost)/.test(url)
  const pid = isHere ? Object.values(nodes)[0]?.process.id : undefined
  return { ...common, path, store: `${url}/${path}`, elastic: { url, pid } }
}

/** Sends a call such as `GET /index` and resolves with the body of the answer; throws unless the status is a success. */
export async function callElastic<T>(url: string, call: `${string} /${string}`, body?: object): Promise<T> {
  const [method = '', path] = call.split(' ')
  const answer = await retryRefused(() =>
    fetch(url + path, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    }),
  )
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${call}: ${answer.status} ${text.slice(0, 500)}`)
  return JSON.parse(text) as T
}

const TRIES = 120

/** Repeats a request while a server on a busy machine refuses it temporarily; returns the last answer. */
export async function retryRefused(ask: () => Promise<Response>): Promise<Response> {
  for (let tries = 1; ; tries++) {
    const answer = await ask()
    if ((answer.status !== 429 && answer.status !== 503) || tries === TRIES) return answer
    await answer.body?.cancel()
    await Bun.sleep(500)
  }
}

/** Deletes every index with a prefix. */
export async function removeIndices(url: string, prefix: string): Promise<void> {
  const names = Object.keys(await callElastic<object>(url, `GET /${prefix}-*`))
  // The request line may have at most 4 KiB.
  for (let at = 0; at < names.length; at += 40) await callElastic(url, `DELETE /${names.slice(at, at + 40).join(',')}`)
}

/** Size of a store on disk. */
export async function readBytes({ elastic, path }: Place): Promise<number> {
  if (elastic === undefined) return readFileSize(path) + readFileSize(`${path}-wal`)
  type Stats = { readonly _all: { readonly primaries: { readonly store: { readonly size_in_bytes: number } } } }
  const { _all } = await callElastic<Stats>(elastic.url, `GET /${path}-*/_stats/store`)
  return _all.primaries.store.size_in_bytes
}

export function readFileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** Opens a store in this process, for reading; `url` is that of Elasticsearch. */
export function openPlace(path: string, url: string | undefined): Store {
  return url === undefined ? openSqlite({ path, readonly: true }) : openElastic({ url, prefix: path })
}

/** A service with an API key. */
export type Service = Server & { readonly key: string }

/** Serves a store and computes every answer. */
export async function startService(
  { folder, store }: Pick<Place, 'folder' | 'store'>,
  more: readonly string[] = [],
): Promise<Service> {
  const key = await createKey(folder, store)
  const serve = ['serve', '--store', store, '--listen', '127.0.0.1:0', '--kept-answers', '0']
  return { ...(await startServer(folder, [BINARY, ...serve, ...more])), key }
}

/** Creates an API key with limits too high to matter here. */
export async function createKey(folder: string, store: string): Promise<string> {
  const limits = ['--per-second', '1000000', '--per-day', '1000000000']
  const { out } = await runCommand(folder, [BINARY, 'keys', 'add', 'benchmark', '--store', store, ...limits])
  return out.trim().split('\n').at(-1) ?? ''
}

/** Path of a call; the query follows the key. */
export function writePath({ key }: Pick<Service, 'key'>, query: string): string {
  return `/api/?apikey=${key}&${query}`
}

/** The data of an answer; throws unless the status is 200. */
export async function readAnswer<T>(service: Service, query: string): Promise<T> {
  const answer = await retryRefused(() => fetch(service.url + writePath(service, query)))
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${query}: ${answer.status} ${text}`)
  return (JSON.parse(text) as { readonly data: T }).data
}
