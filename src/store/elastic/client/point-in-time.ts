import type { Connection } from './connection.ts'
import { requestJson } from './request-json.ts'

/** A point in time of some indices: all its searches see the same documents, regardless of later writes. */
export type Pit = {
  readonly search: <T>(body: object, query?: Readonly<Record<string, string>>) => Promise<T>
  readonly close: () => Promise<void>
}

/** Keep-alive after each search; an auditor pauses less than this between two searches. */
const KEEP = '30m'

export const openPit = async (connection: Connection, indices: readonly string[], keep = KEEP): Promise<Pit> => {
  const list = indices.join(',')
  const what = `search ${list}`
  let { id } = await requestJson<{ id: string }>(connection, {
    what,
    method: 'POST',
    path: `/${list}/_pit`,
    query: { keep_alive: keep },
  })
  return {
    search: async <T>(body: object, query = {}) => {
      const answer = await requestJson<T & { pit_id?: string }>(connection, {
        what,
        method: 'POST',
        path: '/_search',
        query: { allow_partial_search_results: 'false', ...query },
        body: JSON.stringify({ ...body, pit: { id, keep_alive: keep } }),
      })
      id = answer.pit_id ?? id
      return answer
    },
    close: async () => {
      await requestJson(connection, {
        what,
        method: 'DELETE',
        path: '/_pit',
        body: JSON.stringify({ id }),
        acceptedStatuses: [404],
      })
    },
  }
}
