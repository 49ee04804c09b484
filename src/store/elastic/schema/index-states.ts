import type { estypes } from '@elastic/elasticsearch'
import { Failure } from '#failure/failure.ts'
import { historyIndices, stateIndices } from '#indices/registry.ts'
import type { ElasticConnection } from '../client/request.ts'
import {
  type ElasticError,
  type NamedRequest,
  parseAnswer,
  requestJson,
  requestParsed,
  requireValid,
  toElasticFailure,
  toSearch,
} from '../client/request.ts'
import type { LastDocument, LastDocuments } from './checkpoint.ts'
import { HEIGHT, type Mapping } from './mappings.ts'
import { joinParts, KIND, type ReadCluster, STATE_INDICES } from './names.ts'

/** An index with the prefix that any version of this program created. */
export type ExistingIndex = {
  readonly name: string
  /** Name without prefix, generation and partition. */
  readonly of: string
  readonly generation: number
  readonly aliases: readonly string[]
  readonly mapping: Partial<Mapping>
}

const HISTORY_NAMES = new Set<string>(historyIndices.map(({ name }) => name))
/** Indices that only stores of earlier versions have: one for each kind of state. */
export const FORMER_NAMES = new Set<string>(stateIndices.map(({ name }) => name).filter(name => name !== 'series'))
/** Indices whose documents come from the chain, by name without prefix, generation and partition. */
export const DERIVED_NAMES = new Set<string>([...HISTORY_NAMES, ...STATE_INDICES, ...FORMER_NAMES])

/** All indices of this store, served or not; those of other programs and prefixes are omitted. */
export async function listIndices({ connection, names: { prefix } }: ReadCluster): Promise<readonly ExistingIndex[]> {
  const all = await requestJson<
    Readonly<Record<string, { readonly aliases: object; readonly mappings: Partial<Mapping> } | undefined>>
  >(connection, { what: 'read the indices', path: `/${prefix}-*`, query: { filter_path: '*.aliases,*.mappings' } })
  return Object.entries(all).flatMap(([name, found]) => {
    const place = parseName(name.slice(prefix.length + 1))
    return found === undefined || place === undefined
      ? []
      : [{ name, ...place, aliases: Object.keys(found.aliases ?? {}), mapping: found.mappings ?? {} }]
  })
}

/** The parts of a name without its prefix; undefined: not one of our names. */
function parseName(rest: string): { readonly of: string; readonly generation: number } | undefined {
  const of = [...DERIVED_NAMES, 'meta', 'journal', 'keys'].find(name => rest.startsWith(`${name}-`))
  if (of === undefined) return undefined
  const tail = rest.slice(of.length + 1)
  const [, generation] = (HISTORY_NAMES.has(of) ? /^(?:(\d+)-)?\d{6}$/ : /^(\d+)$/).exec(tail) ?? [undefined, '-']
  return generation === '-' ? undefined : { of, generation: Number(generation ?? 0) }
}

/** Adds indices to aliases and removes them, all at once. */
export async function updateAliases(
  connection: ElasticConnection,
  { actions, ...named }: Pick<NamedRequest, 'what' | 'timeoutMs'> & { readonly actions: readonly object[] },
): Promise<void> {
  await requestJson(connection, { ...named, path: '/_aliases', body: JSON.stringify({ actions }) })
}

/** Number of documents of history in the indices up to a height. */
export async function countEarlierDocuments(
  connection: ElasticConnection,
  indices: readonly string[],
  height: number,
): Promise<number> {
  let documents = 0
  for (const name of indices) {
    const { count } = await requestJson<{ count: number }>(connection, {
      what: `count ${name}`,
      path: `/${name}/_count`,
      body: JSON.stringify({ query: { range: { [HEIGHT]: { lte: height } } } }),
    })
    documents += count
  }
  return documents
}

/**
 * The servers with a copy of each index (of one shard) that the elected master has in use. The master removes
 * a copy that missed a write before that write is acknowledged. Throws 'unavailable' without a master, or
 * when an index has no copy in use.
 */
export async function readShardCopies(
  connection: ElasticConnection,
  indices: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>()
  for (const part of joinParts(indices)) {
    const { shards = [] } = await requestJson<Partial<estypes.SearchShardsResponse>>(connection, {
      what: `see the copies of ${part}`,
      path: `/${part}/_search_shards`,
      // Then a server that has lost its master reports this.
      query: { master_timeout: '1s', filter_path: 'shards.index,shards.node,shards.state' },
      signal,
    })
    for (const { index = '', node, state } of shards.flat()) {
      const inUse = state === 'STARTED' || state === 'RELOCATING'
      if (inUse && typeof node === 'string') found.set(index, [...(found.get(index) ?? []), node])
    }
  }
  for (const index of indices)
    if (!found.has(index))
      throw new Failure('unavailable', `No copy of ${index} at ${connection.url} is in use.`, {
        help: 'Check the health of the cluster.',
      })
  return found
}

export type IndexState = { readonly uuid: string; readonly closed: boolean; readonly aliases: ReadonlySet<string> }

/**
 * The states of the existing indices, including closed ones. `local`: as known to the server that answers, which needs no
 * master and may be slightly out of date.
 */
export async function readIndexStates(
  connection: ElasticConnection,
  indices: readonly string[],
  { signal, local = false }: { readonly signal?: AbortSignal | undefined; readonly local?: boolean } = {},
): Promise<ReadonlyMap<string, IndexState>> {
  const found = new Map<string, IndexState>()
  for (const part of joinParts(indices)) {
    const answers = await requestJson<estypes.IndicesGetResponse>(connection, {
      what: `see ${part}`,
      path: `/${part}`,
      signal,
      query: {
        ignore_unavailable: 'true',
        ...(local ? { local: 'true' } : {}),
        filter_path: '*.aliases,*.settings.index.uuid,*.settings.index.verified_before_close',
      },
    })
    for (const [name, { aliases, settings }] of Object.entries(answers))
      found.set(name, {
        uuid: settings?.index?.uuid ?? '',
        closed: settings?.index?.verified_before_close === 'true',
        aliases: new Set(Object.keys(aliases ?? {})),
      })
  }
  return found
}

type EachPart = {
  readonly status?: number
  readonly error?: ElasticError
  readonly hits?: {
    readonly total?: { readonly value?: number }
    readonly hits?: readonly { readonly _id: string; readonly _version: number; readonly sort?: readonly number[] }[]
  }
}

/**
 * Number of documents that a search sees in each index; takes the same time for any number. `inCopies`: in every copy that
 * the elected master has in use. The highest count is returned, because a copy that was cut off has less. Then throws
 * 'unavailable' if a copy cannot be reached.
 */
export async function countDocuments(
  connection: ElasticConnection,
  indices: readonly string[],
  { inCopies }: { readonly inCopies: boolean },
): Promise<ReadonlyMap<string, number>> {
  const all = inCopies ? await listCopies(connection, indices) : indices.map(index => ({ index }))
  const parts = await searchEach(connection, all, { size: 0, track_total_hits: true })
  const highest = new Map<string, number>()
  for (const [at, { index }] of all.entries()) {
    const origin = { connection, what: `count ${index}` }
    const count = requireValid(origin, parts[at]?.hits?.total?.value, Number.isInteger)
    highest.set(index, Math.max(count, highest.get(index) ?? 0))
  }
  return highest
}

const ONE = { size: 1, version: true, _source: false, track_total_hits: false }

/** The last written document of each index; indices without documents are omitted. */
export async function findNewest(connection: ElasticConnection, indices: readonly string[]): Promise<LastDocuments> {
  const all = await listCopies(connection, indices)
  const newest = { ...ONE, sort: [{ _seq_no: 'desc' }] }
  const found: Record<string, LastDocument> = {}
  const seen = new Map<string, number>()
  for (const [at, part] of (await searchEach(connection, all, newest)).entries()) {
    const index = all[at]?.index ?? ''
    const [hit] = part.hits?.hits ?? []
    const number = hit?.sort?.[0] ?? -1
    if (hit === undefined || number <= (seen.get(index) ?? -1)) continue
    seen.set(index, number)
    found[index] = [hit._id, hit._version]
  }
  return found
}

/** Whether a copy that a master has in use contains a document, in this version or a later one. */
export async function isInCopies(
  connection: ElasticConnection,
  index: string,
  [id, version]: LastDocument,
): Promise<boolean> {
  const search = { ...ONE, query: { ids: { values: [id] } } }
  const parts = await searchEach(connection, await listCopies(connection, [index]), search)
  return parts.some(({ hits }) => (hits?.hits?.[0]?._version ?? -1) >= version)
}

type SearchedCopy = { readonly index: string; readonly preference?: string }

async function listCopies(connection: ElasticConnection, indices: readonly string[]): Promise<readonly SearchedCopy[]> {
  return [...(await readShardCopies(connection, indices))].flatMap(([index, nodes]) =>
    nodes.map(node => ({ index, preference: `_only_nodes:${node}` })),
  )
}

async function searchEach(
  connection: ElasticConnection,
  all: readonly SearchedCopy[],
  search: object,
): Promise<readonly EachPart[]> {
  if (all.length === 0) return []
  const what = `count ${all[0]?.index} and others`
  const lines = all
    .map(copy => `${JSON.stringify({ ...copy, allow_partial_search_results: false })}\n${JSON.stringify(search)}\n`)
    .join('')
  const request: NamedRequest = { what, path: '/_msearch', isOfNamedCopies: true, lines }
  return requestParsed(connection, request, ({ text }) => {
    const parsed = parseAnswer<{ readonly responses?: readonly EachPart[] }>({ connection, what }, text)
    const parts = requireValid({ connection, what }, parsed?.responses, ({ length }) => length === all.length)
    for (const [at, { error, status = 503 }] of parts.entries())
      if (error !== undefined) {
        const { index, preference } = all[at] as SearchedCopy
        const origin = { connection, what: `count ${index}` }
        // A retryable status, so that the caller's next try looks the copies up again: this one may have moved.
        throw toElasticFailure(origin, { status: preference === undefined ? status : 503, error: { index, ...error } })
      }
    return parts
  })
}

/** Number of documents of each kind that a search sees in an index of several kinds. */
export async function countKinds(connection: ElasticConnection, index: string): Promise<ReadonlyMap<string, number>> {
  // More kinds of state than there will ever be.
  const kinds = { terms: { field: KIND, size: 1_000 } }
  const request = toSearch(index, { size: 0, aggs: { kinds } })
  type Kinds = { readonly buckets: readonly { readonly key: string; readonly doc_count: number }[] }
  const { aggregations } = await requestJson<{ aggregations?: { readonly kinds: Kinds } }>(connection, request)
  return new Map(aggregations?.kinds.buckets.map(({ key, doc_count }) => [key, doc_count]))
}
