import type { Connection } from '../client/connection.ts'
import { type ElasticError, toFailure } from '../client/failures.ts'
import { parseAnswer, pauseBeforeRetry, requestJson, requestOnce, requireValid } from '../client/request-json.ts'
import type { LastDocument, LastDocuments } from './checkpoint-record.ts'
import type { Counts } from './inventory.ts'
import { inParts } from './names.ts'
import { shardCopies } from './shard-copies.ts'

/** State of an existing index in the cluster. */
export type IndexState = {
  readonly uuid: string
  readonly closed: boolean
  readonly aliases: ReadonlySet<string>
}

type IndexAnswer = {
  readonly aliases?: object
  readonly settings?: { readonly index?: { readonly uuid?: string; readonly verified_before_close?: string } }
}

/** `local`: the state known to the server that answers, which needs no master and may be slightly out of date. */
export type StatesOptions = { readonly signal?: AbortSignal | undefined; readonly local?: boolean }

/** The states of the existing indices, including closed ones. */
export const indexStates = async (
  connection: Connection,
  indices: readonly string[],
  { signal, local = false }: StatesOptions = {},
): Promise<ReadonlyMap<string, IndexState>> => {
  const found = new Map<string, IndexState>()
  for (const part of inParts(indices)) {
    const answers = await requestJson<Readonly<Record<string, IndexAnswer>>>(connection, {
      what: `see ${part}`,
      method: 'GET',
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

type Part = {
  readonly status?: number
  readonly error?: ElasticError
  readonly hits?: {
    readonly total?: { readonly value?: number }
    readonly hits?: readonly {
      readonly _id: string
      readonly _version: number
      readonly sort?: readonly number[]
    }[]
  }
}

/** Number of documents that a search sees in each index; takes the same time for any number. */
export const countsOf = async (connection: Connection, indices: readonly string[]): Promise<Counts> => {
  const parts = await searchEach(
    connection,
    indices.map(index => ({ index })),
    { size: 0, track_total_hits: true },
  )
  return countsIn(connection, indices, parts)
}

/**
 * Like `countsOf`, but counted in every copy that the elected master has in use. Returns the highest count,
 * because a copy that was cut off has less. Throws 'unavailable' if a copy cannot be reached.
 */
export const countsInCopies = async (connection: Connection, indices: readonly string[]): Promise<Counts> => {
  const all = await inCopies(connection, indices)
  const parts = await searchEach(connection, all, { size: 0, track_total_hits: true })
  const highest = new Map<string, number>()
  for (const [at, { index }] of all.entries()) {
    const count = countsIn(connection, [index], [parts[at]]).get(index) ?? 0
    highest.set(index, Math.max(count, highest.get(index) ?? 0))
  }
  return highest
}

/** The last written document of each index; indices without documents are omitted. */
export const newestDocuments = async (connection: Connection, indices: readonly string[]): Promise<LastDocuments> => {
  const all = await inCopies(connection, indices)
  const newest = {
    size: 1,
    version: true,
    _source: false,
    sort: [{ _seq_no: 'desc' }],
    track_total_hits: false,
  }
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
export const isInCopies = async (
  connection: Connection,
  index: string,
  [id, version]: LastDocument,
): Promise<boolean> => {
  const search = {
    size: 1,
    version: true,
    _source: false,
    track_total_hits: false,
    query: { ids: { values: [id] } },
  }
  const parts = await searchEach(connection, await inCopies(connection, [index]), search)
  return parts.some(({ hits }) => (hits?.hits?.[0]?._version ?? -1) >= version)
}

type Copy = { readonly index: string; readonly preference?: string }

const inCopies = async (connection: Connection, indices: readonly string[]): Promise<readonly Copy[]> =>
  [...(await shardCopies(connection, indices))].flatMap(([index, nodes]) =>
    nodes.map(node => ({ index, preference: `_only_nodes:${node}` })),
  )

const countsIn = (connection: Connection, indices: readonly string[], parts: readonly (Part | undefined)[]): Counts =>
  new Map(
    indices.map((index, at) => [
      index,
      requireValid({ connection, what: `count ${index}` }, parts[at]?.hits?.total?.value, Number.isInteger),
    ]),
  )

/** Runs the same search in each index, or in one copy of it. */
const searchEach = async (connection: Connection, all: readonly Copy[], search: object): Promise<readonly Part[]> => {
  if (all.length === 0) return []
  for (let attempt = 0; ; attempt++)
    try {
      return await searchEachOnce(connection, all, search)
    } catch (error) {
      await pauseBeforeRetry(error, attempt)
    }
}

const searchEachOnce = async (
  connection: Connection,
  all: readonly Copy[],
  search: object,
): Promise<readonly Part[]> => {
  const what = `count ${all[0]?.index} and others`
  const answer = await requestOnce(connection, {
    what,
    method: 'POST',
    path: '/_msearch',
    isOfNamedCopies: true,
    lines: all
      .map(copy => `${JSON.stringify({ ...copy, allow_partial_search_results: false })}\n${JSON.stringify(search)}\n`)
      .join(''),
  })
  const parsed = parseAnswer<{ readonly responses?: readonly Part[] }>({ connection, what }, answer.text)
  const parts = requireValid({ connection, what }, parsed?.responses, ({ length }) => length === all.length)
  for (const [at, { error, status = 503 }] of parts.entries())
    if (error !== undefined) {
      const { index, preference } = all[at] as Copy
      const origin = { connection, what: `count ${index}` }
      // A retryable status, so that a copy that has just moved is looked up again.
      throw toFailure(origin, { status: preference === undefined ? status : 503, error: { index, ...error } })
    }
  return parts
}
