import { Failure } from '#failure/failure.ts'
import { absentStore } from '#store/failures.ts'
import {
  createRevocation,
  type KeyPage,
  type KeyStore,
  type KeyTerms,
  nameWithNote,
  parseNameAndNote,
  type StoredKey,
} from '#store/keys-port.ts'
import {
  type ElasticError,
  isMissingIndex,
  MISSING_INDEX,
  parseAnswer,
  parseError,
  type RequestOrigin,
  readFailure,
  requestHits,
  requestText,
  toElasticFailure,
  toSearch,
} from '../client/request.ts'
import { createKeysCheck } from '../schema/inventory.ts'
import type { ReadCluster } from '../schema/names.ts'

type KeyHit = { readonly _id: string; readonly _source: Omit<StoredKey, 'id' | 'note'>; readonly _seq_no: number }
type WrittenKey = KeyHit & { readonly _index: string }
type ReadKey = KeyHit & { readonly _primary_term: number }

const AT_ONCE = 5_000

/** Keys in their own index: one document per key, whose id is the key's public id. */
export function openKeys(cluster: ReadCluster): KeyStore {
  const requireKnown = createKeysCheck(cluster)
  /**
   * Returns `nothing` before any index is created. If other indices exist, a missing keys index is an error,
   * and so is a different index in its place. The index is checked after the answer, so that the answer is
   * known to be from the right index.
   */
  const orIfNothing = async <T>(call: Promise<T>, nothing: T, signal?: AbortSignal): Promise<T> => {
    try {
      const answer = await call
      await requireKnown(signal)
      return answer
    } catch (error) {
      if (isMissingIndex(error)) await requireKnown(signal)
      if (isMissingIndex(error) && !(await isCreated(cluster))) return nothing
      throw error
    }
  }
  const noKeys: KeyPage = { keys: [], isStart: true, isEnd: true, mark: undefined }
  return {
    add: async (...keys) => {
      await requireKnown()
      await addKeys(cluster, keys)
    },
    list: signal => orIfNothing(listKeys(cluster, signal), [], signal),
    salvage: async () => {
      const keys = await orIfNothing<readonly StoredKey[] | undefined>(listKeys(cluster), undefined)
      if (keys === undefined) throw absentStore(cluster.connection.url)
      return { keys, isWhole: true }
    },
    read: (since, signal) => orIfNothing(readKeyPage(cluster, since, signal), noKeys, signal),
    change: (id, terms) => orIfNothing(changeKey(cluster, id, terms), false),
    revoke: (id, now) => orIfNothing(changeKey(cluster, id, createRevocation(now)), false),
  }
}

export function formatKey({ note, ...key }: Omit<StoredKey, 'id'>) {
  return { ...key, name: nameWithNote(note === undefined ? key : { ...key, note }) }
}

function parseKey({ _id, _source }: KeyHit): StoredKey {
  return { id: _id, ..._source, ...parseNameAndNote(_source.name) }
}

type BulkAnswer = {
  readonly items: readonly { readonly create: { readonly status: number; readonly error?: ElasticError } }[]
}

async function addKeys({ connection, names }: ReadCluster, keys: readonly StoredKey[]): Promise<void> {
  const origin = { connection, what: `write ${names.keys}` }
  // Sent without retries: after a lost answer a second attempt would conflict with its own keys.
  const answer = await connection.send({
    method: 'POST',
    path: `/${names.keys}/_bulk`,
    query: { refresh: 'true', require_alias: 'true' },
    lines: keys
      .flatMap(({ id, ...key }) => [{ create: { _id: id } }, formatKey(key)])
      .map(line => `${JSON.stringify(line)}\n`)
      .join(''),
  })
  if (answer.status >= 300) throw toNoIndex(origin, readFailure(origin, answer))
  const { items } = parseAnswer<BulkAnswer>(origin, answer.text)
  for (const [at, { id }] of keys.entries()) {
    const unknown = { status: 500, error: { reason: 'the answer has no result for a key' } }
    const { status, error } = items[at]?.create ?? unknown
    if (status === 409) throw new Failure('conflict', `A key with the id '${id}' already exists.`)
    if (status >= 300) throw toNoIndex(origin, toElasticFailure(origin, { status, error: error ?? {} }))
  }
}

function toNoIndex({ connection, what }: RequestOrigin, failure: Failure): Failure {
  return isMissingIndex(failure)
    ? new Failure('conflict', `There is no index to ${what} at ${connection.url}.`, {
        help: "Run: 'iostlens indices create'.",
      })
    : failure
}

/** Where a reader of keys is: the index, and the number of the last write that was read. */
type KeyMark = readonly [index: string, seqNo: number]

/**
 * Writes under way at the same time may become visible out of order, so the last ones are read again each time. API keys
 * are written one after the other; this is far more than can be under way.
 */
const UNDER_WAY = 64

/**
 * The keys that were written since the mark, in the order of their last writes, which have different numbers. A key that
 * is changed while others are read comes again.
 */
async function readKeyPage(
  { connection, names }: ReadCluster,
  since: string | undefined,
  signal?: AbortSignal,
): Promise<KeyPage> {
  const [index, from] = since === undefined ? [undefined, -1] : (JSON.parse(since) as KeyMark)
  const sorted = { size: AT_ONCE, seq_no_primary_term: true, sort: [{ _seq_no: 'asc' }] }
  const search = (least: number) => {
    const query = { bool: { filter: [{ range: { _seq_no: { gte: least } } }] } }
    return requestHits<WrittenKey>(connection, toSearch(names.keys, { ...sorted, query }, { signal }))
  }
  const hits = await search(Math.max(0, from + 1 - UNDER_WAY))
  const last = hits.at(-1)
  const isRead = index !== undefined && last !== undefined && last._index === index && last._seq_no >= from
  // The index was replaced or restored, or this is the first call.
  const first = isRead || from < UNDER_WAY ? hits : await search(0)
  const end = first.at(-1)
  return {
    keys: first.map(parseKey),
    isStart: !isRead,
    isEnd: first.length < AT_ONCE,
    mark: end === undefined ? undefined : JSON.stringify([end._index, end._seq_no] satisfies KeyMark),
  }
}

/** All keys in the existing index, even if it is not the one that was created. */
export async function listKeys(cluster: ReadCluster, signal?: AbortSignal): Promise<readonly StoredKey[]> {
  const found = new Map<string, StoredKey>()
  for (let mark: string | undefined; ; ) {
    const page = await readKeyPage(cluster, mark, signal)
    if (page.isStart) found.clear()
    for (const key of page.keys) found.set(key.id, key)
    if (page.isEnd) break
    mark = page.mark
  }
  return [...found.values()].toSorted((a, b) => a.created - b.created || (a.id < b.id ? -1 : Number(a.id > b.id)))
}

async function changeKey(cluster: ReadCluster, id: string, terms: (now: KeyTerms) => KeyTerms): Promise<boolean> {
  const { connection, names } = cluster
  const what = `write ${names.keys}`
  const path = `/${names.keys}/_doc/${encodeURIComponent(id)}`
  for (;;) {
    const answer = await requestText(connection, { what, path, acceptedStatuses: [404] })
    if (answer.status === 404) {
      if (parseError(answer).type === undefined) return false
      throw readFailure({ connection, what }, answer)
    }
    const hit = parseAnswer<ReadKey>({ connection, what }, answer.text)
    const seen = { if_seq_no: String(hit._seq_no), if_primary_term: String(hit._primary_term) }
    const { id: _, hash, created, ...now } = parseKey(hit)
    const changed = terms(now)
    if (Bun.deepEquals(changed, now)) return true
    const written = await requestText(connection, {
      what,
      method: 'PUT',
      path,
      query: { ...seen, refresh: 'true', require_alias: 'true' },
      body: JSON.stringify(formatKey({ ...changed, hash, created })),
      acceptedStatuses: [409],
    })
    // 409: another process was faster, or an earlier attempt's answer was lost. Reading again shows which.
    if (written.status !== 409) return true
  }
}

async function isCreated(cluster: ReadCluster): Promise<boolean> {
  const { connection, names } = cluster
  const what = `read ${names.meta}`
  const path = `/${names.meta}/_mapping`
  const answer = await requestText(connection, { what, path, acceptedStatuses: [404] })
  if (answer.status !== 404) return true
  const error = parseError(answer)
  if (error.type !== MISSING_INDEX) throw readFailure({ connection, what }, answer)
  return false
}
