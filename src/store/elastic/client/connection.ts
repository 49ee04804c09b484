import { Failure, messageOf } from '#failure/failure.ts'
import { systemClock } from '#time/clock.ts'
import { type HostChoice, hostChoice } from './host-choice.ts'
import { type HostHealth, hostHealth } from './host-health.ts'
import { TlsFault } from './http-connection.ts'
import { Host, isReading, readOf } from './http-host.ts'
import { LateReads } from './late-reads.ts'
import { readCa } from './official-client.ts'
import { type PendingRequest, PendingRequests, RequestTimeout } from './pending-requests.ts'
import type { ElasticAuth, ElasticResponse, Request } from './request.ts'

export type ConnectionOptions = {
  /**
   * `http(s)://host:port`, or several hosts of one cluster separated by commas; with a path if a proxy needs
   * one; never with credentials.
   */
  readonly url: string
  readonly auth?: ElasticAuth
  /** PEM file of the CA that signed the server's certificate. */
  readonly caFile?: string
  /** Maximum time for one answer to a read, milliseconds. */
  readonly requestTimeoutMs?: number
  /** Maximum number of sockets to one host; further requests wait. */
  readonly maxSockets?: number
}

/** The only way in which the program reaches the server. */
export type Connection = {
  /** URL, for messages. */
  readonly url: string
  /** Name of the user, for messages; never the password. */
  readonly user: string
  readonly requestTimeoutMs: number
  /**
   * Sends a request once, unless it is a read. Reads skip the official client, which costs more than the
   * request itself. They are retried if a kept connection turns out to have ended, and are sent to another
   * host of the cluster when they are late. The hosts take turns; a host that does not answer is left out
   * until it answers a probe. Every HTTP status is an answer. Throws 'unavailable' when there is no answer
   * (the request may or may not have been carried out), and 'deadline' when `signal` aborts.
   */
  send(request: Request): Promise<ElasticResponse>
  /** Requests under way and later requests fail with 'unavailable'. */
  close(): Promise<void>
}

const REQUEST_TIMEOUT_MS = 30_000
const MAX_SOCKETS = 32

/** Time after which a write is late and the hosts are probed, milliseconds. */
const WRITE_LATE_MS = 1_000
const NEVER_MS = Number.POSITIVE_INFINITY

/** Nothing is sent before the first request. */
export const connect = (options: ConnectionOptions): Connection => new ClusterConnection(options)

/** The hosts of a cluster as one server: each request goes to a responsive host, a late read also to another. */
class ClusterConnection implements Connection {
  readonly url: string
  readonly user: string
  readonly requestTimeoutMs: number
  private readonly hosts: readonly Host[]
  private readonly choice: HostChoice<Host>
  private readonly health: HostHealth<Host>
  private readonly late: LateReads
  private readonly jobs: PendingRequests
  private isClosed = false

  constructor(options: ConnectionOptions) {
    const { requestTimeoutMs = REQUEST_TIMEOUT_MS, maxSockets = MAX_SOCKETS, auth, caFile } = options
    const ca = caFile === undefined ? undefined : readCa(caFile)
    this.url = options.url.replace(/(?<!\/)\/+$/, '')
    this.user = userOf(auth)
    this.requestTimeoutMs = requestTimeoutMs
    this.hosts = hostUrls(options.url).map(url => new Host({ url, auth, ca, maxSockets }))
    this.choice = hostChoice(this.hosts, systemClock.elapsed)
    this.jobs = new PendingRequests((pending, now) => void this.onLate(pending, now))
    this.late = new LateReads(this.hosts, this.choice, this.jobs)
    const examined = {
      probe: (host: Host, ms: number) => this.late.probe(host, ms),
      readBy: (host: Host) => this.late.isHelpful(host),
      onDead: (host: Host) => this.jobs.abandon(host),
    }
    this.health = hostHealth({ hosts: this.hosts, choice: this.choice, examined, clock: systemClock })
  }

  async send(request: Request): Promise<ElasticResponse> {
    if (this.isClosed) throw this.closed()
    if (request.signal?.aborted) throw passed(request)
    const isRead = isReading(request)
    const pending = this.begin(request, isRead)
    const { host, first } = pending
    // A read is restricted to certain nodes' copies only if there are other hosts.
    const among = isRead && this.hosts.length > 1 ? this.choice.usable() : this.hosts
    const sent = !isRead
      ? host.write(request, first)
      : among.length === this.hosts.length
        ? host.send(readOf(request), first)
        : this.late.read({ host, among }, request, first)
    void this.jobs.track(pending, first, sent)
    try {
      const answer = await pending.result.promise
      if (isRead && this.hosts.length > 1) this.late.noteAnswered(pending)
      // The node is starting or has lost its cluster. After 429 another host would be no better.
      if (answer.status >= 502 && answer.status <= 504) this.health.failed(host)
      return answer
    } catch (error) {
      throw this.failure(error, pending, request)
    }
  }

  /** A request at the next host in turn. */
  private begin(request: Request, isRead: boolean): PendingRequest {
    const { hosts, choice, late } = this
    const { signal, timeoutMs: ms = this.requestTimeoutMs } = request
    const [only] = hosts
    // With a single host, a late read cannot be sent to another one.
    if (hosts.length === 1 && only !== undefined)
      return this.jobs.begin(only, request, { ms, lateMs: NEVER_MS, signal })
    const lateMs = isRead ? late.noteSent() : WRITE_LATE_MS
    const pending = this.jobs.begin(choice.next(), request, { ms, lateMs, signal })
    pending.changes = choice.changes
    return pending
  }

  private failure(error: unknown, { host }: PendingRequest, request: Request): unknown {
    if (error instanceof RequestTimeout) this.health.round()
    else this.health.failed(host)
    if (this.isClosed) return this.closed()
    if (request.signal?.aborted) return passed(request)
    if (error instanceof TlsFault) return tlsFailure(error, host, this.hosts)
    return hostFailure(error, host, { ...request, timeoutMs: request.timeoutMs ?? this.requestTimeoutMs })
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.health.close()
    this.jobs.endAll()
    for (const host of this.hosts) host.close()
  }

  private async onLate(pending: PendingRequest, now: number): Promise<void> {
    const isRead = pending.request !== undefined && isReading(pending.request)
    pending.lateAt = now + (isRead ? this.late.lateMs : WRITE_LATE_MS)
    this.health.round()
    if (!isRead) return
    const suspect = await this.late.hedge(pending)
    if (suspect === undefined) return
    this.choice.noteFasterWithout(suspect)
    this.health.round()
  }

  private closed(): Failure {
    return new Failure('unavailable', `The store ${this.url} was closed.`, { retryable: false })
  }
}

const passed = (request: Request): Failure =>
  new Failure('deadline', `Elasticsearch did not respond to ${request.path} before the deadline.`)

/** A certificate may be renewed while a cluster is in use; before its first answer the settings are wrong. */
function tlsFailure({ message }: TlsFault, { url }: Host, hosts: readonly Host[]): Failure {
  return new Failure('unavailable', `Elasticsearch at ${url} cannot be reached by TLS: ${message}.`, {
    retryable: hosts.some(({ isKnown }) => isKnown),
    help: 'Set --store-ca to the PEM file of the authority that signed the certificate, and use a host name that the certificate has. A server without TLS needs http:// in --store.',
  })
}

const hostFailure = (
  error: unknown,
  { url }: Host,
  { method, path, timeoutMs }: Request & { readonly timeoutMs: number },
): Failure => {
  if (error instanceof Failure) return error
  if (error instanceof RequestTimeout)
    return new Failure(
      'unavailable',
      `Elasticsearch at ${url} did not respond to ${method} ${path} within ${timeoutMs} ms.`,
    )
  // No cause: the client's errors carry the request with its headers.
  return new Failure('unavailable', `Elasticsearch at ${url} cannot be reached: ${messageOf(error)}.`)
}

const userOf = (auth: ElasticAuth | undefined): string => {
  if (auth === undefined) return 'without a user'
  return 'username' in auth ? `user '${auth.username}'` : 'the API key'
}

/** `http(s)://host:port,host:port/path` as one URL for each host. Throws 'usage' on anything else. */
export const hostUrls = (text: string): readonly URL[] => {
  const [, scheme, authority, path = ''] = /^(https?:\/\/)([^/?#]*)(.*)$/.exec(text) ?? []
  // Checked before splitting at commas: a password may contain one, and no part of it may appear in a message.
  if (authority?.includes('@'))
    throw new Failure('usage', `The Elasticsearch URL ${text} contains a user or password.`, {
      help: 'Use --store-user and --store-password-file instead.',
    })
  return (authority ?? '').split(',').map(host => {
    const url = `${scheme}${host}${path}`
    if (authority === undefined || host === '' || !URL.canParse(url))
      throw new Failure(
        'usage',
        `'${text}' is not an Elasticsearch URL; expected http(s)://host:port, or several hosts of one cluster, separated by commas.`,
      )
    return new URL(url)
  })
}
