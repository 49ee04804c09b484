import { Failure } from '#failure/failure.ts'
import type { KeyStore, StoredKey } from '#store/port.ts'
import { askHits, askText } from '../client/ask.ts'
import { errorOf, isMissingIndex, MISSING_INDEX, toFailure } from '../client/failures.ts'
import { parseAnswer } from '../client/parse-answer.ts'
import type { ReadCluster } from '../schema/cluster.ts'
import { lostKeysOf } from '../schema/lost-indices.ts'

type Hit = { readonly _id: string; readonly _source: Omit<StoredKey, 'id'> }
type Stored = Hit & { readonly _seq_no: number; readonly _primary_term: number }

const AT_ONCE = 1000

/** Keys in an index of their own: one document each, id = the key's public handle. */
export const openKeys = (cluster: ReadCluster): KeyStore => {
  const { connection, names } = cluster
  const path = (id: string) => `/${names.keys}/_doc/${encodeURIComponent(id)}`

  const lost = lostKeysOf(cluster)
  const requireKnown = async (signal?: AbortSignal): Promise<void> => {
    const failure = await lost(signal)
    if (failure !== undefined) throw failure
  }

  const add = async ({ id, ...key }: StoredKey): Promise<void> => {
    await requireKnown()
    // Sent once: after a lost answer a second try would meet its own key.
    const answer = await connection.send({
      method: 'PUT',
      path: path(id),
      query: { op_type: 'create', refresh: 'true', require_alias: 'true' },
      body: JSON.stringify(key),
    })
    if (answer.status < 300) return
    if (answer.status === 409) throw new Failure('conflict', `A key with the id '${id}' already exists.`)
    const failure = toFailure(connection, answer.status, errorOf(answer), `write ${names.keys}`)
    if (!isMissingIndex(failure)) throw failure
    throw new Failure('conflict', `There is no index ${names.keys} at ${connection.url}.`, {
      help: 'Run: iostlens indices create.',
    })
  }

  const page = (
    from: number,
    created: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<readonly Hit[]> =>
    askHits<Hit>(connection, {
      what: `search ${names.keys}`,
      method: 'POST',
      path: `/${names.keys}/_search`,
      query: { allow_partial_search_results: 'false' },
      signal,
      body: JSON.stringify({
        from,
        size: AT_ONCE,
        track_total_hits: false,
        sort: [{ created: 'asc' }],
        query: { bool: { filter: [{ range: { created: { gte: created ?? 0 } } }] } },
      }),
    })

  const list = async (signal: AbortSignal | undefined): Promise<readonly StoredKey[]> => {
    const found = new Map<string, StoredKey>()
    let from = 0
    let created: number | undefined
    for (;;) {
      const part = await page(from, created, signal)
      for (const { _id, _source } of part) found.set(_id, { id: _id, ..._source })
      if (part.length < AT_ONCE) break
      // The next page begins at the last time seen; only keys of that very moment are met twice.
      const last = part.at(-1)?._source.created
      from = last === created ? from + AT_ONCE : 0
      created = last
    }
    return [...found.values()].toSorted(byCreation)
  }

  const revoke = async (id: string, now: number): Promise<boolean> => {
    for (;;) {
      const what = `write ${names.keys}`
      const answer = await askText(connection, { what, method: 'GET', path: path(id), also: [404] })
      if (answer.status === 404) {
        const error = errorOf(answer)
        if (error.type === undefined) return false
        throw toFailure(connection, 404, error, what)
      }
      const { _source, _seq_no, _primary_term } = parseAnswer<Stored>(connection, answer.text, what)
      if (_source.revoked !== undefined) return true
      const written = await askText(connection, {
        what,
        method: 'PUT',
        path: path(id),
        query: {
          if_seq_no: String(_seq_no),
          if_primary_term: String(_primary_term),
          refresh: 'true',
          require_alias: 'true',
        },
        body: JSON.stringify({ ..._source, revoked: now }),
        also: [409],
      })
      // 409: somebody else was quicker, or a try of ours whose answer was lost. Looking again tells.
      if (written.status !== 409) return true
    }
  }

  /**
   * Before anything was created there are no keys; a keys index that is missing beside the others is no such thing, nor is
   * another one in its place. That is looked at after the answer, so that the answer is from the index that is known.
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
    add,
    list: signal => orIfNothing(list(signal), [], signal),
    revoke: (id, now) => orIfNothing(revoke(id, now), false),
  }
}

const isCreated = async (cluster: ReadCluster): Promise<boolean> => {
  const { connection, names } = cluster
  const what = `read ${names.meta}`
  const answer = await askText(connection, {
    what,
    method: 'GET',
    path: `/${names.meta}/_mapping`,
    also: [404],
  })
  if (answer.status !== 404) return true
  const error = errorOf(answer)
  if (error.type !== MISSING_INDEX) throw toFailure(connection, 404, error, what)
  return false
}

const byCreation = (a: StoredKey, b: StoredKey): number =>
  a.created - b.created || (a.id < b.id ? -1 : Number(a.id > b.id))
