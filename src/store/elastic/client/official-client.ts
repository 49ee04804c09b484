import { readFileSync } from 'node:fs'
import {
  type Client,
  type ClientOptions,
  CloudConnectionPool,
  errors,
  Serializer,
} from '@elastic/elasticsearch'
import { Failure } from '#failure/failure.ts'
import { within } from '#time/deadline.ts'
import type { ConnectionOptions, ElasticAuth, Timed } from './connection.ts'
import { FetchConnection } from './fetch-connection.ts'

/** Of one host of a cluster. */
export type HostOptions = Required<Pick<ConnectionOptions, 'requestTimeoutMs' | 'maxSockets'>> & {
  readonly auth?: ElasticAuth | undefined
  /** PEM text. */
  readonly ca?: string | undefined
}

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
 * Options of the client of one host. FetchConnection: the default connection, on undici, fails on Bun with every request.
 * CloudConnectionPool: one address, never marked dead, never asked `HEAD /`, which small distributions lack.
 */
export const clientOptions = (url: URL, options: HostOptions): ClientOptions => ({
  node: { url },
  Connection: FetchConnection,
  ConnectionPool: CloudConnectionPool,
  Serializer: TextSerializer,
  maxRetries: 0,
  requestTimeout: options.requestTimeoutMs,
  agent: {
    keepAlive: true,
    maxSockets: options.maxSockets,
    maxFreeSockets: options.maxSockets,
  },
  ...(options.auth === undefined ? {} : { auth: options.auth }),
  ...(options.ca === undefined ? {} : { tls: { ca: options.ca } }),
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

/** Sends a request by the client's own transport, once. It ends at its time limit, by its signal, or by its entry in `underWay`. */
export const sendByClient = async (
  client: Client,
  request: Timed,
  underWay: Set<AbortController>,
): Promise<Received> => {
  const deadline = new AbortController()
  underWay.add(deadline)
  // The client's own timeout ends with the headers; this one also covers a body that never ends.
  const timer = setTimeout(() => deadline.abort(), request.timeoutMs)
  const abort = () => deadline.abort()
  request.signal?.addEventListener('abort', abort, { once: true })
  try {
    return await within(perform(client, request, deadline.signal), {
      signal: deadline.signal,
      aborted: () => new errors.TimeoutError('No whole answer in time'),
    })
  } finally {
    underWay.delete(deadline)
    clearTimeout(timer)
    request.signal?.removeEventListener('abort', abort)
  }
}

const perform = async (client: Client, request: Timed, signal: AbortSignal): Promise<Received> => {
  const { statusCode, body, headers } = await client.transport.request<string | boolean>(
    {
      method: request.method,
      path: request.path,
      ...(request.query === undefined ? {} : { querystring: { ...request.query } }),
      ...(request.body === undefined ? {} : { body: request.body }),
      ...(request.lines === undefined ? {} : { bulkBody: request.lines }),
    },
    {
      meta: true,
      ignore: EVERY_STATUS,
      requestTimeout: request.timeoutMs,
      signal,
      // The client takes a body that is text for plain text.
      ...(request.body === undefined ? {} : { headers: { 'content-type': 'application/json' } }),
    },
  )
  return {
    status: statusCode ?? 0,
    text: typeof body === 'string' ? body : '',
    isElastic: headers?.['x-elastic-product'] === 'Elasticsearch',
  }
}
