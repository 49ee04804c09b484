import { parseAnswer, requestJson, requestText } from '../client/request-json.ts'
import type { ReadCluster } from '../schema/cluster.ts'

/** In the index of checkpoint and published height, so that each snapshot contains it. */
const ID = 'manifest'

export const keepText = async ({ connection, names }: ReadCluster, text: string): Promise<void> => {
  await requestJson(connection, {
    what: `write ${names.meta}`,
    method: 'PUT',
    path: `/${names.meta}/_doc/${ID}`,
    query: { require_alias: 'true' },
    body: JSON.stringify({ body: text }),
  })
}

export const keptText = async ({ connection, names }: ReadCluster): Promise<string | undefined> => {
  const what = `read ${names.meta}`
  const path = `/${names.meta}/_doc/${ID}`
  const answer = await requestText(connection, { what, method: 'GET', path, acceptedStatuses: [404] })
  if (answer.status === 404) return undefined
  const found = parseAnswer<{ readonly _source?: { readonly body?: unknown } }>({ connection, what }, answer.text)
  const text = found._source?.body
  return typeof text === 'string' ? text : undefined
}
