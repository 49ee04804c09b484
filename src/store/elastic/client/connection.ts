import { Client, errors } from '@elastic/elasticsearch'
import { Failure } from '#failure/failure.ts'
import { hostTurns, hostUrls } from './hosts.ts'
import { type HttpRead, type HttpReads, openReads, TooLate } from './http-reads.ts'
import { clientOptions, type Received, readCa, sendByClient } from './official-client.ts'

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
  /**
   * It changes nothing and pages wait for it: it goes by sockets of our own, which cost less than the client's, and is sent
   * once more where a kept one turns out to be dead. Only GET, and POST with a body.
   */
  readonly isRead?: true
}

/** A request with its time limit. */
export type Timed = Request & { readonly timeoutMs: number }

export type Answer = { readonly status: number; readonly text: string }

/** The only way to the server. */
export type Connection = {
  /** URL, for messages. */
  readonly url: string
  /** Name of the user, for messages; never the password. */
  readonly user: string
  readonly requestTimeoutMs: number
  /**
   * Sends once and never retries, but for `isRead`. The hosts of a cluster take turns; one that failed is left out for a
   * while. Every HTTP status is an answer. Throws 'unavailable' when there is no answer (the request may or may not have
   * been carried out), 'deadline' when `signal` aborts.
   */
  send(request: Request): Promise<Answer>
  /** Requests that are under way and later ones fail with 'unavailable'. */
  close(): Promise<void>
}

const REQUEST_TIMEOUT_MS = 30_000
const MAX_SOCKETS = 32
type Host = {
  readonly url: string
  readonly client: Client
  readonly reads: HttpReads
  /** It has sent a successful answer. */
  known: boolean
}

/** If the caller gives up after this time, the host is left out for a while. */
const SLOW_MS = 1_000

/** Nothing is sent before the first request. */
export const connect = (options: ConnectionOptions): Connection => {
  const { requestTimeoutMs = REQUEST_TIMEOUT_MS, maxSockets = MAX_SOCKETS, auth, caFile } = options
  const ca = caFile === undefined ? undefined : readCa(caFile)
  const hosts = hostUrls(options.url).map(
    (url): Host => ({
      url: url.href.replace(/\/+$/, ''),
      client: new Client(clientOptions(url, { auth, ca, requestTimeoutMs, maxSockets })),
      reads: openReads({ url, ca, headers: authHeaders(auth), maxSockets }),
      known: false,
    }),
  )
  const turns = hostTurns<Host>(hosts)
  const url = options.url.replace(/\/+$/, '')
  let closed = false
  /** Aborts each request that is under way by the client. */
  const underWay = new Set<AbortController>()
  const refuseClosed = (): void => {
    if (closed) throw new Failure('unavailable', `The store ${url} was closed.`, { retryable: false })
  }
  const send = async (request: Request): Promise<Answer> => {
    refuseClosed()
    if (request.signal?.aborted) throw passed(request)
    const host = turns.next()
    const since = performance.now()
    try {
      const answer = await answerOf(host, { timeoutMs: requestTimeoutMs, ...request }, underWay)
      host.known ||= answer.status < 300
      // The node is starting or has lost its cluster; after 429 another host would be no better.
      if (answer.status >= 502 && answer.status <= 504) turns.failed(host)
      return answer
    } catch (error) {
      refuseClosed()
      if (!request.signal?.aborted || performance.now() - since > SLOW_MS) turns.failed(host)
      throw error
    }
  }
  return {
    url,
    user: userOf(options.auth),
    requestTimeoutMs,
    send,
    close: async () => {
      if (closed) return
      closed = true
      for (const request of underWay) request.abort()
      for (const { reads } of hosts) reads.close()
      await Promise.all(hosts.map(({ client }) => client.close()))
    },
  }
}

const answerOf = async (host: Host, request: Timed, underWay: Set<AbortController>): Promise<Answer> => {
  try {
    const received = await (request.isRead
      ? readFrom(host.reads, request)
      : sendByClient(host.client, request, underWay))
    const { isElastic, ...answer } = received
    const isOther = answer.status < 300 || (!host.known && ANSWERS_OF_OTHERS.has(answer.status))
    if (!isElastic && isOther) throw notElastic(host)
    return answer
  } catch (error) {
    if (request.signal?.aborted) throw passed(request)
    throw connectionFailure(error, host, request)
  }
}

const readFrom = async (reads: HttpReads, request: Timed): Promise<Received> => {
  const { path, query, lines, body = lines, timeoutMs, signal } = request
  const asked: HttpRead = {
    method: body === undefined ? 'GET' : 'POST',
    path: query === undefined ? path : `${path}?${new URLSearchParams(query)}`,
    body,
    type: lines === undefined ? 'application/json' : 'application/x-ndjson',
  }
  const { status, text, headers } = await reads.read(asked, { ms: timeoutMs, signal })
  return { status, text, isElastic: headers.get('x-elastic-product') === 'Elasticsearch' }
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
  if (
    error instanceof TooLate ||
    error instanceof errors.TimeoutError ||
    error instanceof errors.RequestAbortedError
  )
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

const authHeaders = (auth: ElasticAuth | undefined): Readonly<Record<string, string>> => {
  if (auth === undefined) return {}
  if ('apiKey' in auth) return { Authorization: `ApiKey ${auth.apiKey}` }
  return { Authorization: `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}` }
}
