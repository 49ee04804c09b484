import { Client, errors } from '@elastic/elasticsearch'
import { Failure } from '#failure/failure.ts'
import { systemClock } from '#time/clock.ts'
import { HttpConnection, type HttpConnectionOptions, NoResponse } from './http-connection.ts'
import type { HttpResponse } from './http-response.ts'
import { authHeaders, clientOptions, sendByClient } from './official-client.ts'
import type { ElasticAuth, ElasticResponse, Request } from './request.ts'

export type HostOptions = HttpConnectionOptions & {
  readonly auth: ElasticAuth | undefined
  /** Maximum number of concurrent requests; further ones wait. */
  readonly maxSockets: number
}

/** A request in the form in which a connection sends it. */
export type HttpRequest = {
  readonly method: string
  /** Path with the query. */
  readonly path: string
  readonly body?: string | undefined
  /** Media type of the body. */
  readonly type?: string
  /** Additional headers of this request; they replace `Accept` and `type`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the request may be carried out twice without harm. */
  readonly isRepeatable: boolean
  /** The request does not wait for a socket: for a probe, which must be sent even while all sockets are busy. */
  readonly isUrgent?: true
}

/** A request on its way to one host. */
export type Attempt = {
  readonly host: Host
  /** The connection that carries the request until it is answered. */
  connection: HttpConnection | undefined
  /** Whether the request is answered or given up. */
  isOver: boolean
}

/** Maximum idle milliseconds: after a longer time a router may have forgotten the connection. */
const IDLE_MS = 55_000
/** Maximum number of probes that wait at once for a connection. */
const PROBES = 8
/**
 * Statuses of servers that do not know the path, such as a proxy that cannot reach Elasticsearch for a moment: a reader
 * would take such a 404 for a missing document. Other statuses, such as 503, are known to be temporary.
 */
const ANSWERS_OF_OTHERS: ReadonlySet<number> = new Set([400, 404, 405, 406, 410, 415, 501])

/** A host of a cluster and its connections, which are reused. The first request opens the first connection. */
export class Host {
  /** For messages. */
  readonly url: string
  /** Id of its node, found by probes; absent behind an address of several servers, or without the privilege. */
  node: string | undefined
  private readonly options: HostOptions
  private readonly client: Client
  /** Path prefix of all requests. */
  private readonly prefix: string
  /** Headers of every request. */
  private readonly head: string
  private readonly idle: HttpConnection[] = []
  private readonly lines = new Set<HttpConnection>()
  /** Requests that have a socket; `waiting` are those without one. */
  private busy = 0
  private readonly waiting: (() => void)[] = []
  private connecting = 0
  private isClosed = false
  /** Whether the host has sent a successful answer. */
  isKnown = false

  constructor(options: HostOptions) {
    const { url, auth } = options
    this.options = options
    this.url = url.href.replace(/(?<!\/)\/+$/, '')
    this.prefix = url.pathname.replace(/(?<!\/)\/+$/, '')
    this.head = headText({ Host: url.host, 'Accept-Encoding': 'identity', ...authHeaders(auth) })
    this.client = new Client(clientOptions(url, this))
  }

  /**
   * Any status is an answer. If a kept connection turns out to have ended, a repeatable request is sent once
   * more, on a new connection. Throws `NoResponse`.
   */
  async send(request: HttpRequest, attempt: Attempt): Promise<HttpResponse> {
    if (request.isUrgent !== true) await this.take()
    try {
      const text = this.textOf(request)
      for (let kept = this.kept(systemClock.elapsed()); ; kept = undefined) {
        if (attempt.isOver) throw new NoResponse('The request was given up')
        const connection = kept ?? (await this.connect(attempt))
        attempt.connection = connection
        try {
          return await connection.send(text)
        } catch (error) {
          const isStale = kept !== undefined && error instanceof NoResponse && error.wasKept
          if (!isStale || !request.isRepeatable || this.isClosed) throw error
        } finally {
          this.keep(connection, attempt)
        }
      }
    } finally {
      if (request.isUrgent !== true) this.leave()
    }
  }

  /** Makes the official client build the request and send it with `send`. Throws as `send` and `checked` do. */
  async write(request: Request, attempt: Attempt): Promise<HttpResponse> {
    try {
      return await sendByClient(this.client, request, attempt)
    } catch (error) {
      throw error instanceof errors.ProductNotSupportedError ? this.notElastic() : error
    }
  }

  /** The answer of Elasticsearch. Throws 'usage', or 'unavailable' if the host was Elasticsearch before. */
  checked({ status, text, headers }: HttpResponse): ElasticResponse {
    const isOther = status < 300 || ANSWERS_OF_OTHERS.has(status)
    if (isOther && headers.get('x-elastic-product') !== 'Elasticsearch') throw this.notElastic()
    this.isKnown ||= status < 300
    return { status, text }
  }

  /** Whether another probe may be sent. */
  mayProbe(): boolean {
    return this.connecting < this.options.maxSockets + PROBES
  }

  /** Requests under way fail; no request is sent afterwards. */
  close(): void {
    this.isClosed = true
    for (const connection of this.lines) connection.close()
    this.lines.clear()
  }

  /** Takes a socket for a request; a request that ends passes its socket to the next. */
  private take(): Promise<void> | undefined {
    if (this.busy >= this.options.maxSockets) return new Promise(go => this.waiting.push(go))
    this.busy += 1
    return undefined
  }

  private leave(): void {
    const next = this.waiting.shift()
    if (next === undefined) this.busy -= 1
    else next()
  }

  /** Returns the line to the idle ones, which may carry another request. */
  private keep(connection: HttpConnection, attempt: Attempt): void {
    attempt.connection = undefined
    if (connection.isClosed) this.lines.delete(connection)
    else this.idle.push(connection)
  }

  private kept(now: number): HttpConnection | undefined {
    for (let connection = this.idle.pop(); connection !== undefined; connection = this.idle.pop()) {
      if (!connection.isClosed && now - connection.idleSince < IDLE_MS) return connection
      this.lines.delete(connection)
      connection.close()
    }
    return undefined
  }

  private async connect(attempt: Attempt): Promise<HttpConnection> {
    const connection = new HttpConnection()
    this.connecting += 1
    // Giving up the request also ends a connection that is not established yet.
    attempt.connection = connection
    try {
      await connection.connect(this.options)
    } finally {
      this.connecting -= 1
      attempt.connection = undefined
    }
    this.lines.add(connection)
    if (this.isClosed || attempt.isOver) connection.close()
    return connection
  }

  /** The request as HTTP/1.1 text. */
  private textOf({ method, path, body, type = 'application/json', headers }: HttpRequest): string {
    const target = /[^!-~]/.test(path) ? encodeURI(path) : path
    const own = headers === undefined ? 'Accept: application/json\r\n' : headText(headers)
    const start = `${method} ${this.prefix}${target} HTTP/1.1\r\n${this.head}${own}`
    if (body === undefined) return `${start}\r\n`
    const typed = headers === undefined ? `Content-Type: ${type}\r\n` : ''
    return `${start}${typed}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  }

  /** If the host was Elasticsearch before, a proxy in front of it is answering now. */
  private notElastic(): Failure {
    const kind = this.isKnown ? 'unavailable' : 'usage'
    return new Failure(kind, `The server at ${this.url} is not Elasticsearch.`, {
      help: 'Set --store to the URL of an Elasticsearch of version 8.19 or 9.',
    })
  }
}

const headText = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')

/** POST requests that change nothing. */
const READS = /(?:^|\/)_(?:search|msearch|mget|count|terms_enum)$/

/** Whether a request changes nothing, so that it may be sent to several hosts at once. */
export const isReading = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
  method === 'GET' || (method === 'POST' && READS.test(path))

/** A read in the form in which a connection sends it. */
export const readOf = ({ path, query, lines, body = lines }: Request): HttpRequest => ({
  method: body === undefined ? 'GET' : 'POST',
  path: query === undefined ? path : `${path}?${queryText(query)}`,
  body,
  type: lines === undefined ? 'application/json' : 'application/x-ndjson',
  isRepeatable: true,
})

const queryText = (query: Readonly<Record<string, string>>): string =>
  Object.entries(query)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')
