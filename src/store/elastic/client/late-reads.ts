import { systemClock } from '#time/clock.ts'
import { extraRequests } from './extra-requests.ts'
import type { HostChoice } from './host-choice.ts'
import type { HttpAnswer } from './http-answer.ts'
import { type Host, type HttpRequest, readOf, type Sending } from './http-host.ts'
import type { Job, Jobs } from './jobs.ts'
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
type Way = { readonly host: Host; readonly among: readonly Host[] }

/** The handling of late reads: they are also sent to other hosts, and hosts are examined by reads of our own. */
export class LateReads {
  private readonly hosts: readonly Host[]
  private readonly choice: HostChoice<Host>
  private readonly jobs: Jobs
  private readonly extra = extraRequests(systemClock.elapsed)
  /** Usual time of a read, milliseconds. */
  private usualMs = 0
  /** The last read that was only answered without one of the hosts. */
  private telling: Request | undefined

  constructor(hosts: readonly Host[], choice: HostChoice<Host>, jobs: Jobs) {
    this.hosts = hosts
    this.choice = choice
    this.jobs = jobs
  }

  /** Time after which a read is late, milliseconds. */
  get lateMs(): number {
    return Math.min(LATEST_MS, Math.max(LATE_MS, LATE_TIMES * this.usualMs))
  }

  /** Counts a usual read; returns the time after which it is late, milliseconds. */
  sent(): number {
    this.extra.earn()
    return this.lateMs
  }

  /** Includes the answer time of the job's own host in the usual time. */
  answered({ request, since, sendings }: Job): void {
    if (request === undefined || sendings.length > 1) return
    this.usualMs += (systemClock.elapsed() - since - this.usualMs) * WEIGHT
  }

  /**
   * Sends a late read again. If the usable hosts have changed since the last attempt, these are used.
   * Otherwise each host in turn, the job's own first, is suspected of delaying the read as coordinator or
   * with its copies, and avoided. Resolves when this attempt has ended: with the avoided host if this attempt
   * answered the job, otherwise with undefined.
   */
  async accompany(job: Job): Promise<Host | undefined> {
    const { hosts, choice } = this
    const { request } = job
    if (request === undefined) return undefined
    const isNews = job.changes !== choice.changes
    if ((!isNews && job.triedWithout >= hosts.length) || !this.extra.spend()) return undefined
    job.changes = choice.changes
    const suspect = isNews ? undefined : hosts[(hosts.indexOf(job.host) + job.triedWithout++) % hosts.length]
    const way = { host: choice.next(suspect), among: choice.usable(suspect) }
    const sending: Sending = { host: way.host, line: undefined, isOver: false }
    job.sendings.push(sending)
    const isFirst = await this.jobs.follow(job, sending, this.read(way, request, sending))
    if (!isFirst || suspect === undefined) return undefined
    this.telling = request
    return suspect
  }

  /** Sends a read to a host, for copies on certain nodes, and again for other nodes if those have no copy. */
  async read({ host, among }: Way, request: Request, sending: Sending): Promise<HttpAnswer> {
    const nodes = among.flatMap(({ node }) => node ?? [])
    const [first = request, ...others] =
      among.length === this.hosts.length ? [request] : onNodes(request, nodes)
    let answer = await host.send(readOf(first), sending)
    for (const other of others) {
      if (!hasNoCopy(answer.text)) break
      answer = await host.send(readOf(other), sending)
    }
    return answer
  }

  /** Whether a host answered in time with its node. Never rejects. */
  async probe(host: Host, ms: number): Promise<boolean> {
    if (!host.mayProbe()) return false
    try {
      const job = this.jobs.begin(host, undefined, { ms, lateMs: NEVER_MS })
      void this.jobs.follow(job, job.first, host.send(WHO, job.first))
      const { status, text } = await job.over.promise
      host.node = nodeIn(text) ?? host.node
      // A proxy reports that the server is down, or the server reports that it has no cluster.
      return status < 502 || status > 504
    } catch {
      return false
    }
  }

  /** Whether `telling` is answered in time through a host, as coordinator and from its copies. */
  async isHelpful(host: Host): Promise<boolean> {
    const { telling, choice } = this
    if (telling === undefined) return true
    const isInTime = async (way: Way): Promise<boolean> => {
      try {
        const job = this.jobs.begin(way.host, telling, { ms: this.lateMs, lateMs: NEVER_MS })
        void this.jobs.follow(job, job.first, this.read(way, telling, job.first))
        return (await job.over.promise).status < 429
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
