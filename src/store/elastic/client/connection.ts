import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Failure, getErrorMessage } from '#failure/failure.ts'
import { systemClock } from '#time/clock.ts'
import { Host, hasNoCopy, NoResponse, preferNodes, RequestTimeout, toHostFailure } from './host.ts'
import { HostChoice, HostHealth } from './host-health.ts'
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

/** Maximum number of extra requests at once, after a time without any. */
const MAX_EXTRA = 20

/**
 * A budget of extra requests, so that they do not double an overload: one for twenty usual requests, and five a second when
 * all usual requests are waiting.
 */
export function createBudget(now: () => number) {
  let left = MAX_EXTRA
  let last = now()
  return {
    earn: (): void => {
      if (left < MAX_EXTRA) left += 1 / 20
    },
    /** Whether an extra request may be sent; if so, it is charged to the budget. */
    spend: (): boolean => {
      const at = now()
      left = Math.min(MAX_EXTRA, left + ((at - last) / 1_000) * 5)
      last = at
      if (left < 1) return false
      left -= 1
      return true
    },
  }
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
  isRepeated: boolean
  /** `HostChoice.changes` at the last attempt. */
  changes: number
  /** Number of hosts that were avoided in further attempts, beginning with its own. */
  suspects: number
}

/** A way to an answer: through `host`, from copies on the nodes of `among`. */
type Route = { readonly host: Host; readonly among: readonly Host[] }

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
  readonly requestTimeoutMs: number
  private readonly hosts: readonly Host[]
  private readonly choice: HostChoice<Host>
  private readonly health: HostHealth<Host>
  private readonly extra = createBudget(systemClock.elapsed)
  private readonly pending = new Set<Pending>()
  private ticking: Timer | undefined
  private lastTick = 0
  private usualMs = 0
  /** The last read that was only answered without one of the hosts. */
  private lateRead: Request | undefined
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
    this.choice = new HostChoice(this.hosts, systemClock.elapsed)
    const examined = {
      probe: probeHost,
      readBy: (host: Host) => this.readsBy(host),
      // Gives up the attempts at a host. A request fails if it has no attempt at another host.
      onDead: (host: Host) => {
        for (const pending of this.pending)
          for (const [stop, at] of pending.attempts)
            if (at === host) this.giveUp(pending, stop, new NoResponse('it does not answer, and other servers do'))
      },
    }
    this.health = new HostHealth({ hosts: this.hosts, choice: this.choice, examined, clock: systemClock })
  }

  async send(request: Request): Promise<ElasticResponse> {
    if (this.isClosed) throw this.closed()
    if (request.signal?.aborted) throw createPassedDeadline(request)
    const pending = this.begin(request)
    const { host, isRead, since } = pending
    try {
      const answer = await pending.result.promise
      // A moving average.
      if (isRead && !pending.isRepeated) this.usualMs += (systemClock.elapsed() - since - this.usualMs) / 16
      // The node is starting or has lost its cluster. After 429 another host would be no better.
      if (answer.status >= 502 && answer.status <= 504) this.health.failed(host)
      return answer
    } catch (error) {
      if (error instanceof RequestTimeout) this.health.round()
      else this.health.failed(host)
      if (this.isClosed) throw this.closed()
      if (request.signal?.aborted) throw createPassedDeadline(request)
      const isKnown = this.hosts.some(each => each.isKnown)
      throw toHostFailure(error, host, { timeoutMs: this.requestTimeoutMs, isKnown, ...request })
    }
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.health.close()
    for (const pending of this.pending) this.fail(pending, new NoResponse('The connection was closed'))
  }

  private begin(request: Request): Pending {
    const isRead = isReading(request)
    const host = this.choice.next()
    const since = systemClock.elapsed()
    if (isRead) this.extra.earn()
    const pending: Pending = {
      request,
      isRead,
      host,
      since,
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

  /** Time after which a request is late, milliseconds: a read after four times the usual time, within bounds. */
  private lateMs(isRead: boolean): number {
    return isRead ? Math.min(2_000, Math.max(200, 4 * this.usualMs)) : 1_000
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
    const [first = request, ...others] = isFree ? [request] : preferNodes(request, nodes)
    let answer = await host.send(first, signal)
    for (const other of others) {
      if (!hasNoCopy(answer.text)) break
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
