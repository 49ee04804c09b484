import { Client, errors } from '@elastic/elasticsearch'
import { Failure } from '#failure/failure.ts'
import { systemClock } from '#time/clock.ts'
import type { HttpAnswer } from './http-answer.ts'
import { HttpLine, type LineOptions, NoAnswer } from './http-line.ts'
import { authHeaders, clientOptions, sendByClient } from './official-client.ts'
import type { Answer, ElasticAuth, Request } from './request.ts'

export type HostOptions = LineOptions & {
  readonly auth: ElasticAuth | undefined
  /** Requests that are under way at once; further ones wait. */
  readonly maxSockets: number
}

/** A request as it goes over a connection. */
export type HttpRequest = {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly body?: string | undefined
  /** Media type of the body. */
  readonly type?: string
  /** Headers of this request beside those of all; they replace `Accept` and `type`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Nothing is different if the server carries it out twice. */
  readonly isRepeatable: boolean
  /** It waits for no socket: for a look at the server itself, also while all sockets wait for it. */
  readonly isUrgent?: true
}

/** A request on its way to one host. */
export type Sending = {
  readonly host: Host
  /** The connection that it is on, until it is answered. */
  line: HttpLine | undefined
  /** Nobody waits for it any more. */
  isOver: boolean
}

/** Beyond this a router on the way may have forgotten the connection, and a request would vanish. */
const IDLE_MS = 55_000
/** Probes that may wait at once for a connection that never comes. */
const PROBES = 8
/**
 * Answers of a server that does not know the path, also of a proxy that has no way to Elasticsearch for a moment: to a
 * reader such a 404 would be a document that is not there. Other ones, as 503, say of themselves that they pass.
 */
const ANSWERS_OF_OTHERS: ReadonlySet<number> = new Set([400, 404, 405, 406, 410, 415, 501])

/** A host of a cluster, and its connections, which are kept from request to request. Nothing is sent before the first. */
export class Host {
  /** For messages. */
  readonly url: string
  /** Id of its node, which probes find out; not behind an address of several servers, nor without the privilege. */
  node: string | undefined
  private readonly options: HostOptions
  private readonly client: Client
  /** The path before all others. */
  private readonly prefix: string
  /** Headers of every request. */
  private readonly head: string
  private readonly idle: HttpLine[] = []
  private readonly lines = new Set<HttpLine>()
  /** Requests that have a socket, and those that wait for one. */
  private busy = 0
  private readonly waiting: (() => void)[] = []
  private connecting = 0
  private isClosed = false
  /** It has sent a successful answer. */
  private isKnown = false

  constructor(options: HostOptions) {
    const { url, auth } = options
    this.options = options
    this.url = url.href.replace(/\/+$/, '')
    this.prefix = url.pathname.replace(/\/+$/, '')
    this.head = headText({ Host: url.host, 'Accept-Encoding': 'identity', ...authHeaders(auth) })
    this.client = new Client(clientOptions(url, this))
  }

  /**
   * Any status is an answer. Where a kept connection turns out to have ended, a repeatable request is sent once more, on
   * a new one. Throws `NoAnswer`.
   */
  async send(request: HttpRequest, sending: Sending): Promise<HttpAnswer> {
    if (request.isUrgent !== true) await this.take()
    try {
      const text = this.textOf(request)
      for (let kept = this.kept(systemClock.elapsed()); ; kept = undefined) {
        if (sending.isOver) throw new NoAnswer('The request was given up')
        const line = kept ?? (await this.connect(sending))
        sending.line = line
        try {
          return await line.send(text)
        } catch (error) {
          const isStale = kept !== undefined && error instanceof NoAnswer && error.wasKept
          if (!isStale || !request.isRepeatable || this.isClosed) throw error
        } finally {
          this.keep(line, sending)
        }
      }
    } finally {
      if (request.isUrgent !== true) this.leave()
    }
  }

  /** Has the official client build a request, which comes back to `send`. Throws as that, and what `checked` throws. */
  async write(request: Request, sending: Sending): Promise<HttpAnswer> {
    try {
      return await sendByClient(this.client, request, sending)
    } catch (error) {
      throw error instanceof errors.ProductNotSupportedError ? this.notElastic() : error
    }
  }

  /** The answer, if it is one of Elasticsearch. Throws 'usage', or 'unavailable' where it was Elasticsearch before. */
  checked({ status, text, headers }: HttpAnswer): Answer {
    const isOther = status < 300 || ANSWERS_OF_OTHERS.has(status)
    if (isOther && headers.get('x-elastic-product') !== 'Elasticsearch') throw this.notElastic()
    this.isKnown ||= status < 300
    return { status, text }
  }

  /** Whether another probe may be sent. */
  mayProbe(): boolean {
    return this.connecting < this.options.maxSockets + PROBES
  }

  /** Requests under way fail; nothing is sent afterwards. */
  close(): void {
    this.isClosed = true
    for (const line of this.lines) line.close()
    this.lines.clear()
  }

  /** A socket for a request; whoever leaves one hands it on. */
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

  /** The line may carry another request from here on. */
  private keep(line: HttpLine, sending: Sending): void {
    sending.line = undefined
    if (line.isClosed) this.lines.delete(line)
    else this.idle.push(line)
  }

  private kept(now: number): HttpLine | undefined {
    for (let line = this.idle.pop(); line !== undefined; line = this.idle.pop()) {
      if (!line.isClosed && now - line.idleSince < IDLE_MS) return line
      this.lines.delete(line)
      line.close()
    }
    return undefined
  }

  private async connect(sending: Sending): Promise<HttpLine> {
    const line = new HttpLine()
    this.connecting += 1
    // Whoever gives the request up ends the connection, however far it has come.
    sending.line = line
    try {
      await line.connect(this.options)
    } finally {
      this.connecting -= 1
      sending.line = undefined
    }
    this.lines.add(line)
    if (this.isClosed || sending.isOver) line.close()
    return line
  }

  /** As HTTP/1.1. */
  private textOf({ method, path, body, type = 'application/json', headers }: HttpRequest): string {
    const target = /[^!-~]/.test(path) ? encodeURI(path) : path
    const own = headers === undefined ? 'Accept: application/json\r\n' : headText(headers)
    const start = `${method} ${this.prefix}${target} HTTP/1.1\r\n${this.head}${own}`
    if (body === undefined) return `${start}\r\n`
    const typed = headers === undefined ? `Content-Type: ${type}\r\n` : ''
    return `${start}${typed}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  }

  /** If it was Elasticsearch before, a proxy in front of it is answering now. */
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

/** POSTs that change nothing. */
const READS = /(?:^|\/)_(?:search|msearch|mget|count|terms_enum)$/

/** Whether a request changes nothing, so that it may be sent to several servers at once. */
export const isReading = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
  method === 'GET' || (method === 'POST' && READS.test(path))

/** A request that changes nothing, as it is sent. */
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
