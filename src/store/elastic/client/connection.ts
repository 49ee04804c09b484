import { readFileSync } from 'node:fs'
import { Client, type ClientOptions, CloudConnectionPool, errors, Serializer } from '@elastic/elasticsearch'
import { Failure } from '#failure/failure.ts'
import { within } from '#time/deadline.ts'
import { FetchConnection } from './fetch-connection.ts'
import { hostTurns, hostUrls } from './hosts.ts'

export type ElasticAuth =
  | { readonly username: string; readonly password: string }
  | { readonly apiKey: string }

export type ConnectionOptions = {
  /**
   * `http(s)://host:port`, or several hosts of one cluster separated by commas; with a path where a proxy needs one;
   * never with credentials.
   */
  readonly url: string
  readonly auth?: ElasticAuth
  /** PEM file of the authority that signed the server's certificate. */
  readonly caFile?: string
  /** Longest time for one answer to a read, milliseconds. */
  readonly requestTimeoutMs?: number
  /** Maximum number of sockets to one host; further requests wait. */
  readonly maxSockets?: number
}

export type Request = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD'
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  /** JSON text. */
  readonly body?: string
  /** Lines of JSON text, each ended by a line feed. */
  readonly lines?: string
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number
}

type Timed = Request & { readonly timeoutMs: number }

export type Answer = { readonly status: number; readonly text: string }

/** The only way to the server. */
export type Connection = {
  /** URL, for messages. */
  readonly url: string
  /** Name of the user, for messages; never the password. */
  readonly user: string
  readonly requestTimeoutMs: number
  /**
   * Sends once and never retries. The hosts of a cluster take turns; one that failed is left out for a while. Every
   * HTTP status is an answer. Throws 'unavailable' when there is no answer (the request may or may not have been
   * carried out), 'deadline' when `signal` aborts.
   */
  send(request: Request): Promise<Answer>
  /** Requests that are under way and later ones fail with 'unavailable'. */
  close(): Promise<void>
}

const REQUEST_TIMEOUT_MS = 30_000
const MAX_SOCKETS = 32
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
export const clientOptions = (url: URL, options: Omit<ConnectionOptions, 'url'>): ClientOptions => ({
  node: { url },
  Connection: FetchConnection,
  ConnectionPool: CloudConnectionPool,
  Serializer: TextSerializer,
  maxRetries: 0,
  requestTimeout: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
  agent: {
    keepAlive: true,
    maxSockets: options.maxSockets ?? MAX_SOCKETS,
    maxFreeSockets: options.maxSockets ?? MAX_SOCKETS,
  },
  ...(options.auth === undefined ? {} : { auth: options.auth }),
  ...(options.caFile === undefined ? {} : { tls: { ca: readCa(options.caFile) } }),
})

const readCa = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Failure('usage', `The CA file ${file} (--store-ca) cannot be read: ${messageOf(error)}.`)
  }
}

type Host = {
  readonly url: string
  readonly client: Client
  /** It has sent a successful answer. */
  known: boolean
}

/** If the caller gives up after this time, the host is left out for a while. */
const SLOW_MS = 1_000

/** Nothing is sent before the first request. */
export const connect = (options: ConnectionOptions): Connection => {
  const hosts = hostUrls(options.url).map(url => ({
    url: url.href.replace(/\/+$/, ''),
    client: new Client(clientOptions(url, options)),
    known: false,
  }))
  const turns = hostTurns<Host>(hosts)
  const url = options.url.replace(/\/+$/, '')
  const defaultTimeout = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS
  let closed = false
  /** Aborts each request that is under way. */
  const underWay = new Set<AbortController>()
  const refuseClosed = (): void => {
    if (closed) throw new Failure('unavailable', `The store ${url} was closed.`, { retryable: false })
  }
  const send = async (request: Request): Promise<Answer> => {
    refuseClosed()
    if (request.signal?.aborted) throw passed(request)
    const host = turns.next()
    const since = performance.now()
    const deadline = new AbortController()
    underWay.add(deadline)
    try {
      const answer = await sendTo(host, { timeoutMs: defaultTimeout, ...request }, deadline)
      host.known ||= answer.status < 300
      // The node is starting or has lost its cluster; after 429 another host would be no better.
      if (answer.status >= 502 && answer.status <= 504) turns.failed(host)
      return answer
    } catch (error) {
      refuseClosed()
      if (!request.signal?.aborted || performance.now() - since > SLOW_MS) turns.failed(host)
      throw error
    } finally {
      underWay.delete(deadline)
    }
  }
  return {
    url,
    user: userOf(options.auth),
    requestTimeoutMs: defaultTimeout,
    send,
    close: async () => {
      if (closed) return
      closed = true
      for (const request of underWay) request.abort()
      await Promise.all(hosts.map(({ client }) => client.close()))
    },
  }
}

const sendTo = async (host: Host, request: Timed, deadline: AbortController): Promise<Answer> => {
  // The client's own timeout ends with the headers; this one also covers a body that never ends.
  const timer = setTimeout(() => deadline.abort(), request.timeoutMs)
  const abort = () => deadline.abort()
  request.signal?.addEventListener('abort', abort, { once: true })
  try {
    const { isElastic, ...answer } = await within(perform(host.client, request, deadline.signal), {
      signal: deadline.signal,
      aborted: () => new errors.TimeoutError('No whole answer in time'),
    })
    // The client checks only successful answers.
    if (!isElastic && !host.known && ANSWERS_OF_OTHERS.has(answer.status)) throw notElastic(host)
    return answer
  } catch (error) {
    if (request.signal?.aborted) throw passed(request)
    throw connectionFailure(error, host, request)
  } finally {
    clearTimeout(timer)
    request.signal?.removeEventListener('abort', abort)
  }
}

const perform = async (
  client: Client,
  request: Timed,
  signal: AbortSignal,
): Promise<Answer & { readonly isElastic: boolean }> => {
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

const passed = (request: Request): Failure =>
  new Failure('deadline', `Elasticsearch did not respond to ${request.path} before the deadline.`)

/** Answers of a server that does not know the path; a proxy gives other ones while Elasticsearch is away. */
const ANSWERS_OF_OTHERS: ReadonlySet<number> = new Set([400, 404, 405, 406, 410, 415, 501])

/** If it was Elasticsearch before, a proxy in front of it is answering now. */
const notElastic = ({ url, known }: Host): Failure =>
  new Failure(known ? 'unavailable' : 'usage', `The server at ${url} is not Elasticsearch.`, {
    help: 'Set --store to the URL of an Elasticsearch of version 8.19 or 9.',
  })

const connectionFailure = (error: unknown, host: Host, request: Timed): Failure => {
  if (error instanceof Failure) return error
  const { url } = host
  const what = `${request.method} ${request.path}`
  if (error instanceof errors.TimeoutError || error instanceof errors.RequestAbortedError)
    return new Failure(
      'unavailable',
      `Elasticsearch at ${url} did not respond to ${what} within ${request.timeoutMs} ms.`,
    )
  if (error instanceof errors.ProductNotSupportedError) return notElastic(host)
  // No cause: the client's errors carry the request with its headers.
  return new Failure('unavailable', `Elasticsearch at ${url} cannot be reached: ${messageOf(error)}.`)
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const userOf = (auth: ElasticAuth | undefined): string => {
  if (auth === undefined) return 'without a user'
  return 'username' in auth ? `user '${auth.username}'` : 'the API key'
}
