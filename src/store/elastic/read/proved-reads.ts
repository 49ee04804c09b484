import { parseExact, writeJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import type { ListedRecord } from '#indices/record.ts'
import type { BoundedCache } from '#store/bounded-cache.ts'
import type { Hints } from '#store/ranking.ts'
import { awaitLimited } from '#time/deadline.ts'
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

/** A copy lacks the last write to its index, because its server was cut off. Another copy may answer. */
export class OutOfDateCopy extends Failure {
  constructor({ url }: Pick<ElasticConnection, 'url'>, index: string) {
    super('unavailable', `The copy of ${index} at ${url} that answered is out of date.`, {
      help: 'A server was cut off from its cluster and has not noticed yet. Retry; if this persists, check the network between the servers.',
      details: { index },
    })
  }
}

/** Attempts before a read fails with `OutOfDateCopy`. With two copies, 1 of 256 reads meets the one that is out of date each time. */
export const COPIES_TRIED = 8

/**
 * Thrown inside a view that could see data newer than its height: a loader is about to publish it, or a batch was abandoned
 * and is not yet written again. The read begins again.
 */
export class NewerData extends Error {}

/** Pause before the next attempt, milliseconds; publication follows a refresh within a few milliseconds. */
export function getWaitMs(attempt: number): number {
  return [2, 4, 8, 16, 32][attempt] ?? 50
}

/** The promise, or a 'deadline' failure when the signal aborts; `what` completes "The deadline passed before". */
export function awaitUnlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined, what: string): Promise<T> {
  return awaitLimited(promise, { signal, aborted: () => createDeadlineFailure(what) })
}

export function createDeadlineFailure(what: string): Failure {
  return new Failure('deadline', `The deadline passed before ${what}.`)
}

/** The source of documents, and the documents that a copy of each index must show. */
export type ProofContext = {
  readonly connection: ElasticConnection
  readonly last: LastDocuments
  readonly signal?: AbortSignal | undefined
}

/** State documents by `INDEX/ID`; a value undefined: no document has that id. */
export type StateCache = BoundedCache<{ readonly id: string } | undefined>

export type ViewReader = ProofContext & {
  readonly names: Names
  readonly published: PublishedMeta
  readonly hints: Hints
  /** Absent: nothing is cached. */
  readonly cache: StateCache | undefined
  /** Called for each state document that may be cached. */
  readonly onCacheRead: ((isHit: boolean) => void) | undefined
  readonly copies: CopiesByIndex
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
  // A part has no more indices than documents, so both fit one request.
  const size = DOCS_AT_ONCE / 2
  for (let from = 0; from < refs.length; from += size) {
    const part = refs.slice(from, from + size)
    const proofs = [...new Set(part.map(({ index }) => index))].flatMap(index => {
      const [id, version = 0] = last[index] ?? []
      return id === undefined ? [] : [{ index, id, version }]
    })
    const got = await getMany(connection, [...proofs, ...part], { realtime: false, signal })
    for (const [at, { index, version }] of proofs.entries())
      if ((got[at]?.version ?? -1) < version) throw new OutOfDateCopy(connection, index)
    found.push(...got.slice(proofs.length))
  }
  return found
}

export type HistoryHit = { readonly _id: string; readonly _source: DocSource }

type HistorySearch = {
  /** Without a `bool` around it, which costs some per cent of a page's time. `filter_path` would cost a sixth. */
  readonly query: object
  readonly size: number
  readonly _source?: readonly (keyof ListedRecord)[]
}

/**
 * Hits in indices of history. Its documents never change, so every hit is right. If they are not all that is wanted,
 * `searchProvedHistory` shows whether there are no more.
 */
export function searchHistory(
  { connection, signal }: ProofContext,
  indices: readonly string[],
  search: HistorySearch,
): Promise<readonly HistoryHit[]> {
  return searchParts(indices, part => requestHits<HistoryHit>(connection, toSearch(String(part), search, { signal })))
}

/**
 * Like `searchHistory`, with the proof that nothing is missing: the last documents of the indices are among
 * the hits, so the same search of the same copies saw them. Throws `OutOfDateCopy` otherwise.
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

/** Servers with a copy of each index, as of the last lookup, by name of index. */
export type CopiesByIndex = Map<string, { readonly nodes: Promise<readonly string[]>; uses: number }>

/** A random server with a copy. The master is asked; all callers share the lookup, so none of them may abort it. */
async function chooseCopy({ connection, copies, signal }: ViewReader, index: string): Promise<string> {
  const lookUp = () => {
    const nodes = readShardCopies(connection, [index]).then(all => all.get(index) ?? [])
    nodes.catch(() => undefined)
    return { nodes, uses: 0 }
  }
  const found = copies.get(index) ?? lookUp()
  copies.set(index, found)
  found.uses++
  // No search waits for this renewal, because a hung master does not answer.
  if (found.uses === 1_000) {
    const next = lookUp()
    next.nodes.then(
      () => copies.set(index, next),
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
  reader: ViewReader,
  index: string,
  searches: readonly object[],
): Promise<readonly SearchResult<H>[]> {
  for (let attempt = 0; ; attempt++)
    try {
      return await searchOnce<H>(reader, index, searches)
    } catch (error) {
      reader.copies.delete(index)
      await pauseBeforeRetry(error, attempt)
    }
}

async function searchOnce<H>(
  reader: ViewReader,
  index: string,
  searches: readonly object[],
): Promise<readonly SearchResult<H>[]> {
  const { connection, last, signal } = reader
  const what = `search ${index}`
  const [id, version = 0] = last[index] ?? []
  const preference = id === undefined ? crypto.randomUUID() : `_only_nodes:${await chooseCopy(reader, index)}`
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
