import { parseExact, writeJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import type { Connection } from '../client/connection.ts'
import { type ElasticError, reasonOf, toFailure } from '../client/failures.ts'
import { parseAnswer, pauseBeforeRetry, requestOnce, requireValid } from '../client/request-json.ts'
import { shardCopies } from '../schema/shard-copies.ts'
import { untilAborted } from './consistent-read.ts'
import { OutOfDateCopy } from './out-of-date.ts'
import type { ProofContext } from './proved-docs.ts'

/** The answer to one of several searches; `H`: type of a hit. */
export type SearchResult<H> = {
  readonly hits?: { readonly total?: { readonly value: number }; readonly hits?: readonly H[] }
}
type Part<H> = SearchResult<H & { readonly _version?: number }> & {
  readonly status?: number
  readonly error?: ElasticError
}

/** Searches after which the servers with a copy are looked up again. */
const USES = 1_000

/** Servers with a copy of an index, as of the last lookup. */
type Servers = { readonly nodes: Promise<readonly string[]>; uses: number }
const known = new WeakMap<Connection, Map<string, Servers>>()

const serversOf = (connection: Connection): Map<string, Servers> => {
  const servers = known.get(connection) ?? new Map<string, Servers>()
  known.set(connection, servers)
  return servers
}

/** All callers share the lookup, so none of them may abort it. */
const askFor = (connection: Connection, index: string): Servers => {
  const nodes = shardCopies(connection, [index]).then(all => all.get(index) ?? [])
  nodes.catch(() => undefined)
  return { nodes, uses: 0 }
}

const copyOf = async ({ connection, signal }: ProofContext, index: string): Promise<string> => {
  const servers = serversOf(connection)
  const found = servers.get(index) ?? askFor(connection, index)
  servers.set(index, found)
  found.uses++
  if (found.uses === USES) renew(connection, index, found)
  const nodes = await untilAborted(found.nodes, signal, `${index} was searched`)
  return nodes[Math.floor(Math.random() * nodes.length)] ?? ''
}

/** Looks up the servers at the master. No search waits for this, because a hung master does not answer. */
const renew = (connection: Connection, index: string, found: Servers): void => {
  const next = askFor(connection, index)
  next.nodes.then(
    () => serversOf(connection).set(index, next),
    () => {
      found.uses = 0
    },
  )
}

/**
 * Searches of one index, sequentially on the same copy, which shows the last document of the index before the first
 * search. Elasticsearch retries a failed search on another copy, so all searches are bound to one server; after a
 * failure the next attempt chooses a server again. Throws `OutOfDateCopy` if the copy lacks that document.
 */
export const searchOneCopy = async <H>(
  proving: ProofContext,
  index: string,
  searches: readonly object[],
): Promise<readonly SearchResult<H>[]> => {
  for (let attempt = 0; ; attempt++)
    try {
      return await searchOnce<H>(proving, index, searches)
    } catch (error) {
      serversOf(proving.connection).delete(index)
      await pauseBeforeRetry(error, attempt)
    }
}

const searchOnce = async <H>(
  proving: ProofContext,
  index: string,
  searches: readonly object[],
): Promise<readonly SearchResult<H>[]> => {
  const { connection, last, signal } = proving
  const what = `search ${index}`
  const [id, version = 0] = last[index] ?? []
  const preference = id === undefined ? crypto.randomUUID() : `_only_nodes:${await copyOf(proving, index)}`
  const proof = { size: 1, _source: false, version: true, query: { ids: { values: [id] } } }
  const all = id === undefined ? searches : [proof, ...searches]
  const head = { index, allow_partial_search_results: false, preference }
  const answer = await requestOnce(connection, {
    what,
    method: 'POST',
    path: '/_msearch',
    // Makes the server run the searches in this order.
    query: { max_concurrent_searches: '1' },
    lines: all.map(body => `${writeJson(head)}\n${writeJson({ track_total_hits: false, ...body })}\n`).join(''),
    signal,
  })
  const parsed = parseAnswer<{ responses?: readonly Part<H>[] }>({ connection, what }, answer.text, parseExact)
  const parts = requireValid({ connection, what }, parsed?.responses, ({ length }) => length === all.length)
  for (const { status = 503, error } of parts)
    if (error !== undefined) throw failureOf(connection, what, { status, error })
  if (id !== undefined && Number(parts[0]?.hits?.hits?.[0]?._version ?? -1) < version)
    throw new OutOfDateCopy(connection, index)
  return parts.slice(all.length - searches.length)
}

const failureOf = (
  connection: Connection,
  what: string,
  answer: { readonly status: number; readonly error: ElasticError },
): Failure =>
  reasonOf(answer.error).startsWith('no data nodes')
    ? new Failure('unavailable', `The server at ${connection.url} that had the copy has left (${what}).`)
    : toFailure({ connection, what }, answer)
