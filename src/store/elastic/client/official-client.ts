import { readFileSync } from 'node:fs'
import { type Client, type ClientOptions, CloudConnectionPool, Serializer } from '@elastic/elasticsearch'
import { Failure } from '#failure/failure.ts'
import type { Sending } from './http-lines.ts'
import type { HttpRequests } from './http-requests.ts'
import type { ElasticAuth, Request } from './request.ts'
import { socketConnection } from './socket-connection.ts'

/** What came back, and whether the server says that it is Elasticsearch. */
export type Received = { readonly status: number; readonly text: string; readonly isElastic: boolean }

/** No status is an error to the client: the caller decides what it means. */
const EVERY_STATUS = Array.from({ length: 200 }, (_, at) => 400 + at)

/** Answers stay text: the caller chooses between JSON.parse and exact parsing. */
class TextSerializer extends Serializer {
  override deserialize<T>(json: string): T {
    return json as unknown as T
  }
}

/**
 * Options of the client of one host. CloudConnectionPool: one address, never marked dead, never asked `HEAD /`, which
 * small distributions lack.
 */
export const clientOptions = (url: URL, requests: HttpRequests): ClientOptions => ({
  node: { url },
  Connection: socketConnection(requests),
  ConnectionPool: CloudConnectionPool,
  Serializer: TextSerializer,
  maxRetries: 0,
})

/** The text of the file that --store-ca names. */
export const readCa = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Failure(
      'usage',
      `The CA file ${file} (--store-ca) cannot be read: ${error instanceof Error ? error.message : error}.`,
    )
  }
}

/** The headers by which the server knows the user. */
export const authHeaders = (auth: ElasticAuth | undefined): Readonly<Record<string, string>> => {
  if (auth === undefined) return {}
  if ('apiKey' in auth) return { Authorization: `ApiKey ${auth.apiKey}` }
  return { Authorization: `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}` }
}

/** Has the client build a request and send it, once. */
export const sendByClient = async (
  client: Client,
  { method, path, query, body, lines }: Request,
  sending: Sending,
): Promise<Received> => {
  const answer = await client.transport.request<string | boolean>(
    {
      method,
      path,
      ...(query === undefined ? {} : { querystring: { ...query } }),
      ...(body === undefined ? {} : { body }),
      ...(lines === undefined ? {} : { bulkBody: lines }),
    },
    {
      meta: true,
      ignore: EVERY_STATUS,
      context: sending,
      // The client takes a body that is text for plain text.
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' } }),
    },
  )
  return {
    status: answer.statusCode ?? 0,
    text: typeof answer.body === 'string' ? answer.body : '',
    isElastic: answer.headers?.['x-elastic-product'] === 'Elasticsearch',
  }
}
