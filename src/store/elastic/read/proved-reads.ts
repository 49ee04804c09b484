import { parseExact, writeJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import type { ListedRecord } from '#indices/record.ts'
import type { AnyIndex } from '#indices/registry.ts'
import type { Hints } from '#store/ranking.ts'
import { DOCS_AT_ONCE, type Got, getMany } from '../client/read-documents.ts'
import type { ElasticConnection, Ref } from '../client/request.ts'
import {
  type ElasticError,
  formatReason,
  parseAnswer,
  pauseBeforeRetry,
  requestHits,
  requestOnce,
  requireValid,
  toElasticFailure,
  toSearch,
} from '../client/request.ts'
import type { LastDocuments, PublishedMeta } from '../schema/checkpoint.ts'
import type { DocSource } from '../schema/documents.ts'
import { readShardCopies } from '../schema/index-states.ts'
import { type Names, splitNames } from '../schema/names.ts'
import { awaitUnlessAborted, OutOfDateCopy } from './consistent-read.ts'

/** The source of documents, and the documents that a copy of each index must show. */
export type ProofContext = {
  readonly connection: ElasticConnection
  readonly last: LastDocuments
  readonly signal?: AbortSignal | undefined
}

type CachedDoc = { readonly id: string } | undefined

/** Cached state documents; `value` undefined: no document has that id. `characters`: the size of the document's text. */
export type DocumentCache = {
  get(index: AnyIndex, id: string): { readonly value: CachedDoc } | undefined
  put(index: AnyIndex, id: string, read: { readonly doc: CachedDoc; readonly characters: number }): void
}

export type ViewReader = ProofContext & {
  readonly names: Names
  readonly recordIndices: readonly string[]
  readonly published: PublishedMeta
  readonly hints: Hints
  readonly cache: DocumentCache
  /** Called when a read misses a document that may have been lost. */
  readonly onNothing: () => void
  /** Reads by id up to the next microtask, which share one request. */
  readonly pendingReads: (PromiseWithResolvers<GotDocs> & { readonly refs: readonly Ref[] })[]
}

type GotDocs = readonly (Got | undefined)[]

/** Like `getProvedDocs`; all reads up to the next microtask share one request. */
export function getBatchedDocs(
  reader: ProofContext & Pick<ViewReader, 'pendingReads'>,
  refs: readonly Ref[],
): Promise<GotDocs> {
  const send = async (): Promise<void> => {
    const together = reader.pendingReads.splice(0)
    try {
      const all = together.length === 1 ? refs : together.flatMap(each => each.refs)
      const found = await getProvedDocs(reader, all)
      let from = 0
      for (const { refs, resolve } of together) {
        resolve(found.slice(from, from + refs.length))
        from += refs.length
      }
    } catch (error) {
      for (const { reject } of together) reject(error)
    }
  }
  const asked = { refs, ...Promise.withResolvers<GotDocs>() }
  if (reader.pendingReads.length === 0) queueMicrotask(() => void send())
  reader.pendingReads.push(asked)
  return asked.promise
}

/**
 * Documents by id in the version that a search sees, each from a copy that is complete for its index. The
 * last document of an index is read before the others in the same request, which one copy carries out in
 * order. Throws `OutOfDateCopy` otherwise.
 */
export async function getProvedDocs(
  { connection, last, signal }: ProofContext,
  refs: readonly Ref[],
): Promise<GotDocs> {
  const found: (Got | undefined)[] = []
  while (found.length < refs.length) {
    const { proofs, part } = takePart(refs, found.length, last)
    const got = await getMany(connection, [...proofs, ...part], { realtime: false, signal })
    for (const [at, { index, version }] of proofs.entries())
      if ((got[at]?.version ?? -1) < version) throw new OutOfDateCopy(connection, index)
    found.push(...got.slice(proofs.length))
  }
  return found
}

/** The documents from `from` on that fit one request, and the documents that prove their indices' copies current. */
function takePart(refs: readonly Ref[], from: number, last: LastDocuments) {
  const proofs = new Map<string, Ref & { readonly version: number }>()
  let to = from
  for (; to < refs.length; to++) {
    const { index } = refs[to] as Ref
    const [id, version = 0] = proofs.has(index) ? [] : (last[index] ?? [])
    if (to - from + proofs.size + (id === undefined ? 1 : 2) > DOCS_AT_ONCE) break
    if (id !== undefined) proofs.set(index, { index, id, version })
  }
  return { proofs: [...proofs.values()], part: refs.slice(from, to) }
}

export type HistoryHit = { readonly _id: string; readonly _source: DocSource }

type HistorySearch = {
  /** Without a `bool` around it, which costs some per cent of a page's time. `filter_path` would cost a sixth. */
  readonly query: object
  readonly size: number
  readonly _source?: readonly (keyof ListedRecord)[]
}

/**
 * Hits in indices of history. Its documents never change, so every hit is right. If there are fewer than `wanted`, a
 * second search shows whether there are no more or a copy is out of date, which throws `OutOfDateCopy`. With `by`, distinct
 * values of that field are counted instead of hits, because hits with the same value do not stand for another value. If
 * `isEnough` rejects the hits, the second search is needed as well.
 */
export async function searchHistory(
  proving: ProofContext,
  indices: readonly string[],
  search: HistorySearch & {
    readonly wanted: number
    readonly by?: string
    readonly isEnough?: ((found: readonly HistoryHit[]) => boolean) | undefined
  },
): Promise<readonly HistoryHit[]> {
  const { wanted, by, isEnough = () => true, ...own } = search
  const { connection, signal } = proving
  const found = await searchParts(indices, part =>
    requestHits<HistoryHit>(connection, toSearch(String(part), own, { signal })),
  )
  const count = by === undefined ? found.length : new Set(found.map(({ _source }) => _source[by])).size
  return count < wanted || !isEnough(found) ? searchProvedHistory(proving, indices, own) : found
}

/**
 * Like `searchHistory`, with the proof that nothing is missing: the last documents of the indices are among
 * the hits, so the same search of the same copies saw them.
 */
export function searchProvedHistory(
  proving: ProofContext,
  indices: readonly string[],
  { query, size, _source }: HistorySearch,
): Promise<readonly HistoryHit[]> {
  const { connection, signal } = proving
  return searchParts(indices, async part => {
    const last = part.flatMap(index => {
      const [id] = proving.last[index] ?? []
      return id === undefined ? [] : [{ index, id }]
    })
    const should = [
      { bool: { filter: [query], _name: 'own' } },
      { ids: { values: last.map(({ id }) => id), _name: 'last' } },
    ]
    const search = { query: { bool: { should } }, size: size + last.length, ...(_source && { _source }) }
    type Hit = HistoryHit & { readonly _index?: string; readonly matched_queries?: readonly string[] }
    const hits = await requestHits<Hit>(connection, toSearch(String(part), search, { signal }))
    const seen = new Set(hits.map(({ _index, _id }) => `${_index}/${_id}`))
    for (const { index, id } of last) if (!seen.has(`${index}/${id}`)) throw new OutOfDateCopy(connection, index)
    return hits.filter(({ matched_queries }) => matched_queries?.includes('own'))
  })
}

async function searchParts(
  indices: readonly string[],
  search: (part: readonly string[]) => Promise<readonly HistoryHit[]>,
): Promise<readonly HistoryHit[]> {
  return (await Promise.all(splitNames(indices).map(search))).flat()
}

/** The answer to one of several searches; `H`: type of a hit. */
type SearchResult<H> = {
  readonly hits?: { readonly total?: { readonly value: number }; readonly hits?: readonly H[] }
}
type SearchPart<H> = SearchResult<H & { readonly _version?: number }> & {
  readonly status?: number
  readonly error?: ElasticError
}

/** Servers with a copy of an index, as of the last lookup. */
type Servers = { readonly nodes: Promise<readonly string[]>; uses: number }
const serversByConnection = new WeakMap<ElasticConnection, Map<string, Servers>>()

function getServers(connection: ElasticConnection): Map<string, Servers> {
  const servers = serversByConnection.get(connection) ?? new Map<string, Servers>()
  serversByConnection.set(connection, servers)
  return servers
}

/** Asks the master. All callers share the lookup, so none of them may abort it. */
function lookUpServers(connection: ElasticConnection, index: string): Servers {
  const nodes = readShardCopies(connection, [index]).then(all => all.get(index) ?? [])
  nodes.catch(() => undefined)
  return { nodes, uses: 0 }
}

async function chooseCopy({ connection, signal }: ProofContext, index: string): Promise<string> {
  const servers = getServers(connection)
  const found = servers.get(index) ?? lookUpServers(connection, index)
  servers.set(index, found)
  found.uses++
  // No search waits for this renewal, because a hung master does not answer.
  if (found.uses === 1_000) {
    const next = lookUpServers(connection, index)
    next.nodes.then(
      () => getServers(connection).set(index, next),
      () => {
        found.uses = 0
      },
    )
  }
  const nodes = await awaitUnlessAborted(found.nodes, signal, `${index} was searched`)
  return nodes[Math.floor(Math.random() * nodes.length)] ?? ''
}

/**
 * Searches of one index, sequentially on the same copy, which shows the last document of the index before the first
 * search. Elasticsearch retries a failed search on another copy, so all searches are bound to one server; after a
 * failure the next attempt chooses a server again. Throws `OutOfDateCopy` if the copy lacks that document.
 */
export async function searchOneCopy<H>(
  proving: ProofContext,
  index: string,
  searches: readonly object[],
): Promise<readonly SearchResult<H>[]> {
  for (let attempt = 0; ; attempt++)
    try {
      return await searchOnce<H>(proving, index, searches)
    } catch (error) {
      getServers(proving.connection).delete(index)
      await pauseBeforeRetry(error, attempt)
    }
}

async function searchOnce<H>(
  proving: ProofContext,
  index: string,
  searches: readonly object[],
): Promise<readonly SearchResult<H>[]> {
  const { connection, last, signal } = proving
  const what = `search ${index}`
  const [id, version = 0] = last[index] ?? []
  const preference = id === undefined ? crypto.randomUUID() : `_only_nodes:${await chooseCopy(proving, index)}`
  const proof = { size: 1, _source: false, version: true, query: { ids: { values: [id] } } }
  const all = id === undefined ? searches : [proof, ...searches]
  const head = { index, allow_partial_search_results: false, preference }
  const answer = await requestOnce(connection, {
    what,
    path: '/_msearch',
    // Makes the server run the searches in this order.
    query: { max_concurrent_searches: '1' },
    lines: all.map(body => `${writeJson(head)}\n${writeJson({ track_total_hits: false, ...body })}\n`).join(''),
    signal,
  })
  const parsed = parseAnswer<{ responses?: readonly SearchPart<H>[] }>({ connection, what }, answer.text, parseExact)
  const parts = requireValid({ connection, what }, parsed?.responses, ({ length }) => length === all.length)
  for (const { status = 503, error } of parts)
    if (error !== undefined)
      throw formatReason(error).startsWith('no data nodes')
        ? new Failure('unavailable', `The server at ${connection.url} that had the copy has left (${what}).`)
        : toElasticFailure({ connection, what }, { status, error })
  if (id !== undefined && Number(parts[0]?.hits?.hits?.[0]?._version ?? -1) < version)
    throw new OutOfDateCopy(connection, index)
  return parts.slice(all.length - searches.length)
}
