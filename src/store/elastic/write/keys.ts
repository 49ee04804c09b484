import { Failure } from '#failure/failure.ts'
import {
  type KeyStore,
  type KeyTerms,
  nameAndNoteIn,
  nameWithNote,
  revokedAt,
  type StoredKey,
} from '#store/keys-port.ts'
import { errorOf, failureOf, isMissingIndex, MISSING_INDEX } from '../client/failures.ts'
import { parseAnswer, requestHits, requestText, searchOf } from '../client/request-json.ts'
import type { ReadCluster } from '../schema/cluster.ts'
import { lostKeysOf } from '../schema/lost-indices.ts'

type Hit = { readonly _id: string; readonly _source: Omit<StoredKey, 'id' | 'note'> }
type Stored = Hit & { readonly _seq_no: number; readonly _primary_term: number }

const AT_ONCE = 1000

/** Keys in their own index: one document per key, whose id is the key's public id. */
export const openKeys = (cluster: ReadCluster): KeyStore => {
  const lost = lostKeysOf(cluster)
  const requireKnown = async (signal?: AbortSignal): Promise<void> => {
    const failure = await lost(signal)
    if (failure !== undefined) throw failure
  }
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
  return {
    add: async key => {
      await requireKnown()
      await addKey(cluster, key)
    },
    list: signal => orIfNothing(listKeys(cluster, signal), [], signal),
    change: (id, terms) => orIfNothing(changeKey(cluster, id, terms), false),
    revoke: (id, now) => orIfNothing(changeKey(cluster, id, revokedAt(now)), false),
  }
}

const pathOf = ({ names }: ReadCluster, id: string): string => `/${names.keys}/_doc/${encodeURIComponent(id)}`

/** Name and note are one text. */
const sourceOf = ({ note, ...key }: Omit<StoredKey, 'id'>) => ({
  ...key,
  name: nameWithNote(note === undefined ? key : { ...key, note }),
})

const keyIn = ({ _id, _source }: Hit): StoredKey => ({ id: _id, ..._source, ...nameAndNoteIn(_source.name) })

const addKey = async (cluster: ReadCluster, { id, ...key }: StoredKey): Promise<void> => {
  const { connection, names } = cluster
  // Sent without retries: after a lost answer a second attempt would conflict with its own key.
  const answer = await connection.send({
    method: 'PUT',
    path: pathOf(cluster, id),
    query: { op_type: 'create', refresh: 'true', require_alias: 'true' },
    body: JSON.stringify(sourceOf(key)),
  })
  if (answer.status < 300) return
  if (answer.status === 409) throw new Failure('conflict', `A key with the id '${id}' already exists.`)
  const failure = failureOf({ connection, what: `write ${names.keys}` }, answer)
  if (!isMissingIndex(failure)) throw failure
  throw new Failure('conflict', `There is no index ${names.keys} at ${connection.url}.`, {
    help: 'Run: iostlens indices create.',
  })
}

type Page = { readonly from: number; readonly created: number | undefined }

const pageOf = (
  { connection, names }: ReadCluster,
  { from, created = 0 }: Page,
  signal: AbortSignal | undefined,
): Promise<readonly Hit[]> =>
  requestHits<Hit>(
    connection,
    searchOf(
      names.keys,
      {
        ...{ from, size: AT_ONCE, sort: [{ created: 'asc' }] },
        query: { bool: { filter: [{ range: { created: { gte: created } } }] } },
      },
      { signal },
    ),
  )

/** All keys in the existing index, even if it is not the one that was created. */
export const listKeys = async (cluster: ReadCluster, signal?: AbortSignal): Promise<readonly StoredKey[]> => {
  const found = new Map<string, StoredKey>()
  let from = 0
  let created: number | undefined
  for (;;) {
    const page = await pageOf(cluster, { from, created }, signal)
    for (const hit of page) found.set(hit._id, keyIn(hit))
    if (page.length < AT_ONCE) break
    // The next page begins at the last time of this one; only keys of that exact time are read twice.
    const last = page.at(-1)?._source.created
    from = last === created ? from + AT_ONCE : 0
    created = last
  }
  return [...found.values()].toSorted(byCreation)
}

const changeKey = async (cluster: ReadCluster, id: string, terms: (now: KeyTerms) => KeyTerms): Promise<boolean> => {
  const { connection, names } = cluster
  const what = `write ${names.keys}`
  const path = pathOf(cluster, id)
  for (;;) {
    const answer = await requestText(connection, { what, method: 'GET', path, acceptedStatuses: [404] })
    if (answer.status === 404) {
      if (errorOf(answer).type === undefined) return false
      throw failureOf({ connection, what }, answer)
    }
    const hit = parseAnswer<Stored>({ connection, what }, answer.text)
    const { _seq_no, _primary_term } = hit
    const { id: _, hash, created, ...now } = keyIn(hit)
    const changed = terms(now)
    if (Bun.deepEquals(changed, now)) return true
    const written = await requestText(connection, {
      what,
      method: 'PUT',
      path,
      query: {
        if_seq_no: String(_seq_no),
        if_primary_term: String(_primary_term),
        refresh: 'true',
        require_alias: 'true',
      },
      body: JSON.stringify(sourceOf({ ...changed, hash, created })),
      acceptedStatuses: [409],
    })
    // 409: another process was faster, or an earlier attempt's answer was lost. Reading again shows which.
    if (written.status !== 409) return true
  }
}

const isCreated = async (cluster: ReadCluster): Promise<boolean> => {
  const { connection, names } = cluster
  const what = `read ${names.meta}`
  const answer = await requestText(connection, {
    what,
    method: 'GET',
    path: `/${names.meta}/_mapping`,
    acceptedStatuses: [404],
  })
  if (answer.status !== 404) return true
  const error = errorOf(answer)
  if (error.type !== MISSING_INDEX) throw failureOf({ connection, what }, answer)
  return false
}

const byCreation = (a: StoredKey, b: StoredKey): number =>
  a.created - b.created || (a.id < b.id ? -1 : Number(a.id > b.id))
