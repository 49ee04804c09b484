import { Failure } from '#failure/failure.ts'
import { systemClock } from '#time/clock.ts'
import { type ConnectionOptions, hostUrls, readCa, userOf } from './connection-options.ts'
import { extraRequests } from './extra-requests.ts'
import { Host, hostFailure, NoResponse, RequestTimeout } from './host.ts'
import { HostChoice } from './host-choice.ts'
import { HostHealth } from './host-health.ts'
import { hasNoCopy, onNodes } from './read-copies.ts'
import { type ElasticResponse, isReading, type Request } from './request.ts'

/** The only way in which the program reaches the server. */
export type Connection = {
  /** URL, for messages. */
  readonly url: string
  /** Name of the user, for messages; never the password. */
  readonly user: string
  readonly requestTimeoutMs: number
  /**
   * Sends a request once, unless it is a read. Reads are repeated if their connection is cut, and sent to another
   * host of the cluster when they are late. The hosts take turns; a host that does not answer is left out
   * until it answers a probe. Every HTTP status is an answer. Throws 'unavailable' when there is no answer
   * (the request may or may not have been carried out), and 'deadline' when `signal` aborts.
   */
  send(request: Request): Promise<ElasticResponse>
  /** Requests under way and later requests fail with 'unavailable'. */
  close(): Promise<void>
}

/** A request under way, at one or several hosts. Times are milliseconds of `Clock.elapsed`. */
type Pending = {
  readonly request: Request
  readonly isRead: boolean
  /** The host of the first attempt. */
  readonly host: Host
  readonly since: number
  readonly until: number
  /** Time at which the request is late. */
  lateAt: number
  /** Ends each attempt under way. */
  readonly attempts: Map<AbortController, Host>
  readonly result: PromiseWithResolvers<ElasticResponse>
  /** Whether there was a second attempt. */
  isRepeated: boolean
  /** `HostChoice.changes` at the last attempt. */
  changes: number
  /** Number of hosts that were avoided in further attempts, beginning with its own. */
  suspects: number
}

/** A way to an answer: through `host`, from copies on the nodes of `among`. */
type Route = { readonly host: Host; readonly among: readonly Host[] }

const REQUEST_TIMEOUT_MS = 30_000
/** The runtime sends 256 requests of a process at once, and others wait: a hung server must not take them all. */
const MAX_SOCKETS = 32
/** Time after which a write is late and the hosts are probed, milliseconds. */
const WRITE_LATE_MS = 1_000
/** A read is late after four times the usual time, within these bounds in milliseconds. */
const LATE_TIMES = 4
const LATE_MS = 200
const LATEST_MS = 2_000
/** Weight of one read in the moving average of the usual time. */
const WEIGHT = 1 / 16
/** Milliseconds between two checks of all requests: a timer and a listener for each would cost a tenth more. */
const TICK_MS = 20
/** After a longer pause this process itself was busy, and answers may be waiting to be read. Milliseconds. */
const STALL_MS = 100
/** Any server answers this by itself. If the role lacks the privilege, the refusal is an answer too. */
const WHO: Request = { method: 'GET', path: '/_nodes/_local', query: { filter_path: 'nodes.*.name' } }

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
  private readonly extra = extraRequests(systemClock.elapsed)
  private readonly pending = new Set<Pending>()
  private ticking: Timer | undefined
  private lastTick = 0
  /** Usual time of a read, milliseconds. */
  private usualMs = 0
  /** The last read that was only answered without one of the hosts. */
  private lateRead: Request | undefined
  private isClosed = false

  constructor(options: ConnectionOptions) {
    const { requestTimeoutMs = REQUEST_TIMEOUT_MS, maxSockets = MAX_SOCKETS, auth, caFile } = options
    const ca = caFile === undefined ? undefined : readCa(caFile)
    this.url = options.url.replace(/(?<!\/)\/+$/, '')
    this.user = userOf(auth)
    this.requestTimeoutMs = requestTimeoutMs
    this.hosts = hostUrls(options.url).map(url => new Host({ url, auth, ca, maxSockets }))
    this.choice = new HostChoice(this.hosts, systemClock.elapsed)
    const examined = {
      probe: probeHost,
      readBy: (host: Host) => this.readsBy(host),
      onDead: (host: Host) => this.abandon(host),
    }
    this.health = new HostHealth({ hosts: this.hosts, choice: this.choice, examined, clock: systemClock })
  }

  async send(request: Request): Promise<ElasticResponse> {
    if (this.isClosed) throw this.closed()
    if (request.signal?.aborted) throw passedDeadline(request)
    const pending = this.begin(request)
    const { host, isRead, since } = pending
    try {
      const answer = await pending.result.promise
      if (isRead && !pending.isRepeated) this.usualMs += (systemClock.elapsed() - since - this.usualMs) * WEIGHT
      // The node is starting or has lost its cluster. After 429 another host would be no better.
      if (answer.status >= 502 && answer.status <= 504) this.health.failed(host)
      return answer
    } catch (error) {
      throw this.failure(error, pending)
    }
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.health.close()
    for (const pending of this.pending) this.fail(pending, new NoResponse('The connection was closed'))
  }

  /** Sends a request to the next host in turn. */
  private begin(request: Request): Pending {
    const isRead = isReading(request)
    const host = this.choice.next()
    const since = systemClock.elapsed()
    if (isRead) this.extra.earn()
    const pending: Pending = {
      ...{ request, isRead, host, since },
      until: since + (request.timeoutMs ?? this.requestTimeoutMs),
      // With a single host there is nothing to compare.
      lateAt: this.hosts.length === 1 ? Number.POSITIVE_INFINITY : since + this.lateMs(isRead),
      attempts: new Map(),
      result: Promise.withResolvers(),
      isRepeated: false,
      changes: this.choice.changes,
      suspects: 0,
    }
    this.pending.add(pending)
    if (this.ticking === undefined) {
      this.lastTick = since
      this.ticking = setInterval(() => this.tick(), TICK_MS)
    }
    void this.attempt(pending, { host, among: this.choice.usable() })
    return pending
  }

  /** Time after which a request is late, milliseconds. */
  private lateMs(isRead: boolean): number {
    return isRead ? Math.min(LATEST_MS, Math.max(LATE_MS, LATE_TIMES * this.usualMs)) : WRITE_LATE_MS
  }

  /** Sends a request by a route; it fails with its last attempt. Whether this attempt answered it; never rejects. */
  private async attempt(pending: Pending, route: Route): Promise<boolean> {
    const { isRepeated } = pending
    const stop = new AbortController()
    pending.attempts.set(stop, route.host)
    let failure: unknown
    try {
      const answer = await this.carry(pending.request, route, stop.signal)
      if (stop.signal.aborted) return false
      // Another host's answer counts unless it reports overload or a failure of that server.
      if (!isRepeated || answer.status < 429) {
        pending.attempts.delete(stop)
        pending.result.resolve(answer)
        this.end(pending)
        return true
      }
      failure = new NoResponse('No other host could answer')
    } catch (error) {
      failure = error
    }
    this.giveUp(pending, stop, failure)
    return false
  }

  /** Sends a request to a host. A read takes copies on certain nodes, and on other nodes if those have none. */
  private async carry(request: Request, { host, among }: Route, signal: AbortSignal): Promise<ElasticResponse> {
    const isFree = among.length === this.hosts.length || !isReading(request)
    const nodes = among.flatMap(({ node }) => node ?? [])
    const [first = request, ...others] = isFree ? [request] : onNodes(request, nodes)
    let answer = await host.send(first, signal)
    for (const other of others) {
      if (!hasNoCopy(answer.text)) break
      answer = await host.send(other, signal)
    }
    return answer
  }

  /** Ends one attempt. */
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

  /** Gives up the attempts at a host. A request fails if it has no attempt at another host. */
  private abandon(host: Host): void {
    for (const pending of this.pending)
      for (const [stop, at] of pending.attempts)
        if (at === host) this.giveUp(pending, stop, new NoResponse('it does not answer, and other servers do'))
  }

  private tick(): void {
    const now = systemClock.elapsed()
    const hasStalled = now - this.lastTick > STALL_MS
    this.lastTick = now
    for (const pending of this.pending)
      if (now >= pending.until || pending.request.signal?.aborted === true) this.fail(pending, new RequestTimeout())
      else if (now >= pending.lateAt && !hasStalled) void this.onLate(pending, now)
    if (this.pending.size > 0) return
    clearInterval(this.ticking)
    this.ticking = undefined
  }

  /**
   * Sends a late read again. If the usable hosts have changed since the last attempt, these are used. Otherwise each host
   * in turn, the request's own first, is suspected of delaying the read as coordinator or with its copies, and avoided.
   */
  private async onLate(pending: Pending, now: number): Promise<void> {
    const { hosts, choice, extra } = this
    pending.lateAt = now + this.lateMs(pending.isRead)
    this.health.round()
    const isNews = pending.changes !== choice.changes
    if (!pending.isRead || (!isNews && pending.suspects >= hosts.length) || !extra.spend()) return
    pending.changes = choice.changes
    pending.isRepeated = true
    const suspect = isNews ? undefined : hosts[(hosts.indexOf(pending.host) + pending.suspects++) % hosts.length]
    const isFirst = await this.attempt(pending, { host: choice.next(suspect), among: choice.usable(suspect) })
    if (!isFirst || suspect === undefined) return
    this.lateRead = pending.request
    choice.noteFasterWithout(suspect)
    this.health.round()
  }

  /** Whether the last late read is answered in time through a host, as coordinator and from its copies. Never rejects. */
  private async readsBy(host: Host): Promise<boolean> {
    const { lateRead, choice } = this
    if (lateRead === undefined) return true
    const routes = [
      { host, among: choice.usable() },
      { host: choice.next(), among: [host] },
    ]
    const limit = AbortSignal.timeout(this.lateMs(true))
    const tried = await Promise.allSettled(routes.map(route => this.carry(lateRead, route, limit)))
    return tried.every(each => each.status === 'fulfilled' && each.value.status < 429)
  }

  private failure(error: unknown, { request, host }: Pending): unknown {
    if (error instanceof RequestTimeout) this.health.round()
    else this.health.failed(host)
    if (this.isClosed) return this.closed()
    if (request.signal?.aborted) return passedDeadline(request)
    const isKnown = this.hosts.some(each => each.isKnown)
    return hostFailure(error, host, { timeoutMs: this.requestTimeoutMs, isKnown, ...request })
  }

  private closed(): Failure {
    return new Failure('unavailable', `The store ${this.url} was closed.`, { retryable: false })
  }
}

const passedDeadline = ({ path }: Request): Failure =>
  new Failure('deadline', `Elasticsearch did not respond to ${path} before the deadline.`)

/** Whether a host answered in time with its node. Never rejects. */
async function probeHost(host: Host, ms: number): Promise<boolean> {
  try {
    const { status, text } = await host.sendProbe(WHO, AbortSignal.timeout(ms))
    host.node = /^\{"nodes":\{"([\w-]+)":/.exec(text)?.[1] ?? host.node
    // A proxy reports that the server is down, or the server reports that it has no cluster.
    return status < 502 || status > 504
  } catch {
    return false
  }
}
