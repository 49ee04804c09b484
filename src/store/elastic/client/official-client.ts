import { readFileSync } from 'node:fs'
import {
  type Client,
  type ClientOptions,
  CloudConnectionPool,
  HttpConnection,
  Serializer,
} from '@elastic/elasticsearch'
import { Failure, messageOf } from '#failure/failure.ts'
import type { HttpResponse } from './http-response.ts'
import type { ElasticAuth, Request } from './request.ts'

type Options = ConstructorParameters<typeof HttpConnection>[0]
type Params = Parameters<HttpConnection['request']>[0]
type RequestOptions = Parameters<HttpConnection['request']>[1]

/** Sends a request that the client has built; `attempt` is the object passed to the client with the request. */
type Carrier = {
  send(
    request: Pick<Request, 'path' | 'body'> & {
      readonly method: string
      readonly headers: Readonly<Record<string, string>>
      readonly isRepeatable: false
    },
    attempt: object,
  ): Promise<HttpResponse>
}

/** The client must not treat any status as an error: the caller interprets it. */
const EVERY_STATUS = Array.from({ length: 200 }, (_, at) => 400 + at)

/** Headers that are sent with the request itself, or that are the same on every connection of ours. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'authorization',
  'connection',
  'content-length',
  'host',
])

/** Answers stay text: the caller chooses between JSON.parse and exact parsing. */
class TextSerializer extends Serializer {
  override deserialize<T>(json: string): T {
    return json as unknown as T
  }
}

/**
 * Options of the client of one host. CloudConnectionPool: one address, never marked dead, and no `HEAD /`
 * requests, which small distributions lack.
 */
export const clientOptions = (url: URL, carrier: Carrier): ClientOptions => ({
  node: { url },
  Connection: socketConnection(carrier),
  ConnectionPool: CloudConnectionPool,
  Serializer: TextSerializer,
  maxRetries: 0,
})

/**
 * Makes the official client send its requests over our own sockets, so that there is one HTTP stack. The client's
 * connection on undici fails on Bun with every request, and the one on node:http takes three times the CPU time.
 */
const socketConnection = (carrier: Carrier) =>
  class SocketConnection extends HttpConnection {
    constructor(options: Options) {
      // Prevents the creation of a node:http agent.
      super({ ...options, agent: false })
    }

    override async request(params: Params, { context }: RequestOptions): Promise<never> {
      const { method, path, querystring, body, headers } = params
      const request = {
        method,
        path: querystring ? `${path}?${querystring}` : path,
        ...(typeof body === 'string' && body !== '' ? { body } : {}),
        headers: textHeaders(headers),
        isRepeatable: false as const,
      }
      const answer = await carrier.send(request, context as object)
      // The client never requests streams; its types have two results for one implementation.
      return {
        statusCode: answer.status,
        headers: Object.fromEntries(answer.headers),
        body: answer.text,
      } as never
    }

    override async close(): Promise<void> {}
  }

const textHeaders = (headers: Params['headers']): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers ?? {}).flatMap(([name, value]) =>
      value === undefined || value === null || OWN_HEADERS.has(name.toLowerCase()) ? [] : [[name, String(value)]],
    ),
  )

/** The content of the file in --store-ca. */
export const readCa = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Failure('usage', `The CA file ${file} (--store-ca) cannot be read: ${messageOf(error)}.`)
  }
}

/** The headers that authenticate the user. */
export const authHeaders = (auth: ElasticAuth | undefined): Readonly<Record<string, string>> => {
  if (auth === undefined) return {}
  if ('apiKey' in auth) return { Authorization: `ApiKey ${auth.apiKey}` }
  return { Authorization: `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}` }
}

/** Makes the client build a request and send it, once. */
export const sendByClient = async (
  client: Client,
  { method, path, query, body, lines }: Request,
  attempt: Readonly<Record<string, unknown>>,
): Promise<HttpResponse> => {
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
      context: attempt,
      // The client would send a text body as plain text.
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' } }),
    },
  )
  return {
    status: answer.statusCode ?? 0,
    text: typeof answer.body === 'string' ? answer.body : '',
    headers: new Map(Object.entries(answer.headers ?? {}).map(([name, value]) => [name, String(value)])),
    keepsAlive: true,
  }
}
