import type { Connection } from './connection.ts'
import { requestJson } from './request-json.ts'
import { call } from './typed-client.ts'

/** A point in time of some indices: all its searches see the same documents, regardless of later writes. */
export type Pit = {
  readonly search: <T>(body: object, query?: Readonly<Record<string, string>>) => Promise<T>
  readonly close: () => Promise<void>
}

/** Keep-alive after each search; an auditor pauses less than this between two searches. */
const KEEP = '30m'

export async function openPit(connection: Connection, indices: readonly string[], keep = KEEP): Promise<Pit> {
  const index = indices.join(',')
  const what = `search ${index}`
  let { id } = await call(connection, { what }, (client, options) =>
    client.openPointInTime({ index, keep_alive: keep }, options),
  )
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
      await call(connection, { what, acceptedStatuses: [404] }, (client, options) =>
        client.closePointInTime({ id }, options),
      )
    },
  }
}
