import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Failure, getErrorMessage } from '#failure/failure.ts'
import { systemClock } from '#time/clock.ts'
import { Host, NoResponse, preferNodes, RequestTimeout, toHostFailure } from './host.ts'
import { HostHealth } from './host-health.ts'
import { type ElasticAuth, type ElasticConnection, type ElasticResponse, isReading, type Request } from './request.ts'

export type ConnectionOptions = {
  /**
   * `http(s)://host:port`, or several hosts of one cluster separated by commas; with a path if a proxy needs
   * one; never with credentials.
   */
  readonly url: string
  readonly auth?: ElasticAuth
  readonly caFile?: string
  readonly requestTimeoutMs?: number
  /** Maximum number of sockets to one host; further requests wait. */
  readonly maxSockets?: number
}

function readCa(file: string): string {
  try {
    const text = readFileSync(file, 'utf8')
    // Without a certificate the runtime would only say that no connection can be made.
    new X509Certificate(text)
    return text
  } catch (error) {
    throw new Failure('usage', `The CA file ${file} (--store-ca) cannot be read: ${getErrorMessage(error)}.`)
  }
}

/** `http(s)://host:port,host:port/path` as one URL for each host. Throws 'usage' on anything else. */
export function parseHostUrls(text: string): readonly URL[] {
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

/** A request under way, at one or several hosts. Times are milliseconds of `Clock.elapsed`. */
type Pending = {
  readonly request: Request
  readonly isRead: boolean
  readonly host: Host
  readonly since: number
  readonly until: number
  lateAt: number
  readonly attempts: Map<AbortController, Host>
  readonly result: PromiseWithResolvers<ElasticResponse>
  /** Number of further attempts, each of which avoids another host, beginning with its own. */
  repeats: number
}

/** Maximum number of extra attempts under way, so that they do not double an overload. */
const MAX_EXTRA = 20
/** Milliseconds between two checks of all requests: a timer and a listener for each would cost a tenth more. */
const TICK_MS = 20
/** After a longer pause this process itself was busy, and answers may be waiting to be read. Milliseconds. */
const STALL_MS = 100
/** Any server answers this by itself. If the role lacks the privilege, the refusal is an answer too. */
const WHO: Request = { method: 'GET', path: '/_nodes/_local', query: { filter_path: 'nodes.*.name' } }

/** Nothing is sent before the first request. */
export function connect(options: ConnectionOptions): ElasticConnection {
  return new ClusterConnection(options)
}

/** The hosts of a cluster as one server: each request goes to a responsive host, a late read also to another. */
class ClusterConnection implements ElasticConnection {
  readonly url: string
  readonly user: string
  private readonly requestTimeoutMs: number
  private readonly hosts: readonly Host[]
  private readonly health: HostHealth<Host>
  private readonly pending = new Set<Pending>()
  private ticking: Timer | undefined
  private lastTick = 0
  private usualMs = 0
  private isClosed = false

  constructor(options: ConnectionOptions) {
    // The runtime sends 256 requests of a process at once, and others wait: a hung server must not take them all.
    const { requestTimeoutMs = 30_000, maxSockets = 32, auth, caFile } = options
    const ca = caFile === undefined ? undefined : readCa(caFile)
    this.url = options.url.replace(/(?<!\/)\/+$/, '')
    this.user = 'without a user'
    if (auth !== undefined) this.user = 'username' in auth ? `user '${auth.username}'` : 'the API key'
    this.requestTimeoutMs = requestTimeoutMs
    this.hosts = parseHostUrls(options.url).map(url => new Host(url, { auth, ca, maxSockets }))
    this.health = new HostHealth({
      hosts: this.hosts,
      probe: probeHost,
      // Gives up the attempts at a host. A request fails if it has no attempt at another host.
      onDead: host => {
        for (const pending of this.pending)
          for (const [stop, at] of pending.attempts)
            if (at === host) this.giveUp(pending, stop, new NoResponse('it does not answer, and other servers do'))
      },
      clock: systemClock,
    })
  }

  async send(request: Request): Promise<ElasticResponse> {
    if (this.isClosed) throw this.closed()
    if (request.signal?.aborted) throw createPassedDeadline(request)
    const isRead = isReading(request)
    const among = this.health.usable
    const since = systemClock.elapsed()
    const pending: Pending = {
      request,
      isRead,
      host: this.health.next(among),
      since,
      until: since + (request.timeoutMs ?? this.requestTimeoutMs),
      // With a single host there is nothing to compare.
      lateAt: this.hosts.length === 1 ? Number.POSITIVE_INFINITY : since + this.lateMs(isRead),
      attempts: new Map(),
      result: Promise.withResolvers(),
      repeats: 0,
    }
    this.pending.add(pending)
    if (this.ticking === undefined) {
      this.lastTick = since
      this.ticking = setInterval(() => this.tick(), TICK_MS)
    }
    void this.attempt(pending, pending.host, among)
    try {
      return await pending.result.promise
    } catch (error) {
      if (this.isClosed) throw this.closed()
      if (request.signal?.aborted) throw createPassedDeadline(request)
      const isKnown = this.hosts.some(each => each.isKnown)
      throw toHostFailure(error, pending.host, { timeoutMs: this.requestTimeoutMs, isKnown, ...request })
    }
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.health.close()
    for (const pending of this.pending) this.fail(pending, new NoResponse('The connection was closed'))
  }

  /** Time after which a request is late, milliseconds: a read after four times the usual time, within bounds. */
  private lateMs(isRead: boolean): number {
    return isRead ? Math.min(2_000, Math.max(200, 4 * this.usualMs)) : 1_000
  }

  /** Sends a request through `host`, to copies on the nodes of `among`; it fails with its last attempt. Never rejects. */
  private async attempt(pending: Pending, host: Host, among: readonly Host[]): Promise<void> {
    const isRepeated = pending.repeats > 0
    const stop = new AbortController()
    pending.attempts.set(stop, host)
    let failure: unknown
    try {
      const answer = await this.carry(pending, stop.signal, { host, among })
      if (stop.signal.aborted) return
      // The node is starting or has lost its cluster. After 429 another host would be no better.
      if (answer.status >= 502 && answer.status <= 504) this.health.failed(host)
      // Another host's answer counts unless it reports overload or a failure of that server.
      if (!isRepeated || answer.status < 429) {
        // A moving average.
        if (pending.isRead && pending.repeats === 0)
          this.usualMs += (systemClock.elapsed() - pending.since - this.usualMs) / 16
        pending.attempts.delete(stop)
        pending.result.resolve(answer)
        this.end(pending)
        return
      }
      failure = new NoResponse('No other host could answer')
    } catch (error) {
      if (stop.signal.aborted) return
      this.health.failed(host)
      failure = error
    }
    this.giveUp(pending, stop, failure)
  }

  /** A read takes copies on certain nodes, and on other nodes if those have none. */
  private async carry(
    { request, isRead }: Pending,
    signal: AbortSignal,
    { host, among }: { readonly host: Host; readonly among: readonly Host[] },
  ): Promise<ElasticResponse> {
    if (!isRead || among.length === this.hosts.length) return host.send(request, signal)
    const nodes = among.flatMap(({ node }) => node ?? [])
    const [first = request, ...others] = preferNodes(request, nodes)
    let answer = await host.send(first, signal)
    for (const other of others) {
      if (!answer.text.includes('no data nodes with criteria [')) break
      answer = await host.send(other, signal)
    }
    return answer
  }

  private giveUp(pending: Pending, stop: AbortController, reason: unknown): void {
    stop.abort()
    if (pending.attempts.delete(stop) && pending.attempts.size === 0) this.fail(pending, reason)
  }

  private fail(pending: Pending, reason: unknown): void {
    pending.result.reject(reason)
    this.end(pending)
  }

  private end(pending: Pending): void {
    this.pending.delete(pending)
    for (const stop of pending.attempts.keys()) stop.abort()
    pending.attempts.clear()
  }

  private tick(): void {
    const now = systemClock.elapsed()
    const hasStalled = now - this.lastTick > STALL_MS
    this.lastTick = now
    for (const pending of this.pending)
      if (now >= pending.until || pending.request.signal?.aborted === true) {
        this.health.round()
        this.fail(pending, new RequestTimeout())
      } else if (now >= pending.lateAt && !hasStalled) this.repeat(pending, now)
    if (this.pending.size > 0) return
    clearInterval(this.ticking)
    this.ticking = undefined
  }

  /**
   * Sends a late read again. Each host in turn, the request's own first, is suspected of delaying the read as coordinator
   * or with its copies, and avoided.
   */
  private repeat(pending: Pending, now: number): void {
    const { hosts, health } = this
    pending.lateAt = now + this.lateMs(pending.isRead)
    health.round()
    let extra = 0
    for (const { attempts } of this.pending) extra += attempts.size - 1
    // Each host was avoided twice by then; more would only add to an overload.
    if (!pending.isRead || pending.repeats >= 2 * hosts.length || extra >= MAX_EXTRA) return
    const suspect = hosts[(hosts.indexOf(pending.host) + pending.repeats++) % hosts.length] as Host
    const among = health.without(suspect)
    void this.attempt(pending, health.next(among), among)
  }

  private closed(): Failure {
    return new Failure('unavailable', `The store ${this.url} was closed.`, { retryable: false })
  }
}

function createPassedDeadline({ path }: Request): Failure {
  return new Failure('deadline', `Elasticsearch did not respond to ${path} before the deadline.`)
}

/** Whether a host answered in time with its node. Never rejects. */
async function probeHost(host: Host, ms: number): Promise<boolean> {
  try {
    const { status, text } = await host.exchange(WHO, AbortSignal.timeout(ms))
    host.node = /^\{"nodes":\{"([\w-]+)":/.exec(text)?.[1] ?? host.node
    // A proxy reports that the server is down, or the server reports that it has no cluster.
    return status < 502 || status > 504
  } catch {
    return false
  }
}
