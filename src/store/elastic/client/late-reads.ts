import { systemClock } from '#time/clock.ts'
import { extraRequests } from './extra-requests.ts'
import type { HostChoice } from './host-choice.ts'
import { type Attempt, type Host, type HttpRequest, readOf } from './http-host.ts'
import type { HttpResponse } from './http-response.ts'
import type { PendingRequest, PendingRequests } from './pending-requests.ts'
import { hasNoCopy, onNodes } from './read-copies.ts'
import type { Request } from './request.ts'

/** A read is late after four times the usual time, within these bounds in milliseconds. */
const LATE_TIMES = 4
const LATE_MS = 200
const LATEST_MS = 2_000
/** Weight of one read in the moving average of the usual time. */
const WEIGHT = 1 / 16
const NEVER_MS = Number.POSITIVE_INFINITY
/** Any server answers this by itself. If the role lacks the privilege, the refusal is an answer too. */
const WHO: HttpRequest = {
  method: 'GET',
  path: '/_nodes/_local?filter_path=nodes.*.name',
  isRepeatable: true,
  isUrgent: true,
}

/** A read through `host`, from copies on the nodes of `among`. */
type Route = { readonly host: Host; readonly among: readonly Host[] }

/** The handling of late reads: they are also sent to other hosts, and hosts are examined by reads of our own. */
export class LateReads {
  private readonly hosts: readonly Host[]
  private readonly choice: HostChoice<Host>
  private readonly pendingRequests: PendingRequests
  private readonly extra = extraRequests(systemClock.elapsed)
  /** Usual time of a read, milliseconds. */
  private usualMs = 0
  /** The last read that was only answered without one of the hosts. */
  private lateRead: Request | undefined

  constructor(hosts: readonly Host[], choice: HostChoice<Host>, pendingRequests: PendingRequests) {
    this.hosts = hosts
    this.choice = choice
    this.pendingRequests = pendingRequests
  }

  /** Time after which a read is late, milliseconds. */
  get lateMs(): number {
    return Math.min(LATEST_MS, Math.max(LATE_MS, LATE_TIMES * this.usualMs))
  }

  /** Counts a usual read; returns the time after which it is late, milliseconds. */
  noteSent(): number {
    this.extra.earn()
    return this.lateMs
  }

  /** Includes the answer time of the request's own host in the usual time. */
  noteAnswered({ request, since, attempts }: PendingRequest): void {
    if (request === undefined || attempts.length > 1) return
    this.usualMs += (systemClock.elapsed() - since - this.usualMs) * WEIGHT
  }

  /**
   * Sends a late read again. If the usable hosts have changed since the last attempt, these are used.
   * Otherwise each host in turn, the request's own first, is suspected of delaying the read as coordinator or
   * with its copies, and avoided. Resolves when this attempt has ended: with the avoided host if this attempt
   * answered the request, otherwise with undefined.
   */
  async hedge(pending: PendingRequest): Promise<Host | undefined> {
    const { hosts, choice } = this
    const { request } = pending
    if (request === undefined) return undefined
    const isNews = pending.changes !== choice.changes
    if ((!isNews && pending.triedWithout >= hosts.length) || !this.extra.spend()) return undefined
    pending.changes = choice.changes
    const suspect = isNews ? undefined : hosts[(hosts.indexOf(pending.host) + pending.triedWithout++) % hosts.length]
    const route = { host: choice.next(suspect), among: choice.usable(suspect) }
    const attempt: Attempt = { host: route.host, connection: undefined, isOver: false }
    pending.attempts.push(attempt)
    const isFirst = await this.pendingRequests.track(pending, attempt, this.read(route, request, attempt))
    if (!isFirst || suspect === undefined) return undefined
    this.lateRead = request
    return suspect
  }

  /** Sends a read to a host, for copies on certain nodes, and again for other nodes if those have no copy. */
  async read({ host, among }: Route, request: Request, attempt: Attempt): Promise<HttpResponse> {
    const nodes = among.flatMap(({ node }) => node ?? [])
    const [first = request, ...others] = among.length === this.hosts.length ? [request] : onNodes(request, nodes)
    let answer = await host.send(readOf(first), attempt)
    for (const other of others) {
      if (!hasNoCopy(answer.text)) break
      answer = await host.send(readOf(other), attempt)
    }
    return answer
  }

  /** Whether a host answered in time with its node. Never rejects. */
  async probe(host: Host, ms: number): Promise<boolean> {
    if (!host.mayProbe()) return false
    try {
      const pending = this.pendingRequests.begin(host, undefined, { ms, lateMs: NEVER_MS })
      void this.pendingRequests.track(pending, pending.first, host.send(WHO, pending.first))
      const { status, text } = await pending.result.promise
      host.node = nodeIn(text) ?? host.node
      // A proxy reports that the server is down, or the server reports that it has no cluster.
      return status < 502 || status > 504
    } catch {
      return false
    }
  }

  /** Whether `lateRead` is answered in time through a host, as coordinator and from its copies. */
  async isHelpful(host: Host): Promise<boolean> {
    const { lateRead, choice } = this
    if (lateRead === undefined) return true
    const isInTime = async (route: Route): Promise<boolean> => {
      try {
        const pending = this.pendingRequests.begin(route.host, lateRead, {
          ms: this.lateMs,
          lateMs: NEVER_MS,
        })
        void this.pendingRequests.track(pending, pending.first, this.read(route, lateRead, pending.first))
        return (await pending.result.promise).status < 429
      } catch {
        return false
      }
    }
    const [asCoordinator, asCopy] = await Promise.all([
      isInTime({ host, among: choice.usable() }),
      isInTime({ host: choice.next(), among: [host] }),
    ])
    return asCoordinator && asCopy
  }
}

/** The id of the only node in the answer to `WHO`. */
const nodeIn = (text: string): string | undefined => /^\{"nodes":\{"([\w-]+)":/.exec(text)?.[1]
