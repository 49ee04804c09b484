import { systemClock } from '#time/clock.ts'
import type { HttpAnswer } from './http-answer.ts'
import type { Host, Sending } from './http-host.ts'
import { NoAnswer } from './http-line.ts'
import type { Answer, Request } from './request.ts'

export type JobLimits = {
  readonly ms: number
  /** Time after which the job is late for the first time. */
  readonly lateMs: number
  readonly signal?: AbortSignal | undefined
}

/** A request under way, on one or several hosts. Times are milliseconds of `Clock.elapsed`. */
export type Job = {
  /** The host of the first attempt. */
  readonly host: Host
  /** undefined: a probe, whose answer may come from any server. */
  readonly request: Request | undefined
  readonly since: number
  readonly until: number
  readonly signal: AbortSignal | undefined
  /** Time at which the job is late. */
  lateAt: number
  /** The attempt at `host`. */
  readonly first: Sending
  /** All attempts, including those at other hosts. */
  readonly sendings: Sending[]
  readonly over: PromiseWithResolvers<Answer>
  /** `HostChoice.changes` at the last attempt. */
  changes: number
  /** Number of hosts that were avoided in further attempts, beginning with its own. */
  triedWithout: number
}

/** The answer did not arrive within the limits. */
export class TooLate extends Error {}

/** Milliseconds between two checks of all jobs: a timer and a listener per request would cost a tenth more. */
const TICK_MS = 20
/** After a longer pause this process itself was busy, and answers may be waiting to be read. Milliseconds. */
const STALL_MS = 100

/** All requests of a connection, supervised by one timer. */
export class Jobs {
  private readonly all = new Set<Job>()
  private readonly onLate: (job: Job, now: number) => void
  private ticking: Timer | undefined
  private lastTick = 0

  constructor(onLate: (job: Job, now: number) => void) {
    this.onLate = onLate
  }

  begin(host: Host, request: Request | undefined, { ms, lateMs, signal }: JobLimits): Job {
    const since = systemClock.elapsed()
    const first = { host, line: undefined, isOver: false }
    const job: Job = {
      host,
      request,
      since,
      until: since + ms,
      signal,
      lateAt: since + lateMs,
      first,
      sendings: [first],
      over: Promise.withResolvers<Answer>(),
      changes: 0,
      triedWithout: 0,
    }
    this.all.add(job)
    if (this.ticking === undefined) {
      this.lastTick = since
      this.ticking = setInterval(() => this.tick(), TICK_MS)
    }
    return job
  }

  /**
   * Resolves the job with the answer of `work`, or rejects it with the error if no other attempt is under
   * way. Returns whether this attempt answered the job; never rejects.
   */
  async follow(job: Job, sending: Sending, work: Promise<HttpAnswer>): Promise<boolean> {
    let failure: unknown
    try {
      const received = await work
      if (sending.isOver) return false
      const answer = job.request === undefined ? received : sending.host.checked(received)
      // Another host's answer counts unless it reports overload or a failure of that server.
      if (sending === job.first || answer.status < 429) {
        sending.isOver = true
        job.over.resolve(answer)
        this.end(job)
        return true
      }
      failure = new NoAnswer('No other host could answer')
    } catch (error) {
      if (sending.isOver) return false
      failure = error
    }
    sending.isOver = true
    if (job.sendings.every(({ isOver }) => isOver)) this.fail(job, failure)
    return false
  }

  /** Gives up the attempts at a host. A job fails with `NoAnswer` if it has no attempt at another host. */
  abandon(host: Host): void {
    for (const job of this.all) {
      for (const sending of job.sendings) if (sending.host === host) cancel(sending)
      if (job.sendings.every(({ isOver }) => isOver))
        this.fail(job, new NoAnswer('it does not answer, and other servers do'))
    }
  }

  endAll(): void {
    for (const job of this.all) this.fail(job, new NoAnswer('The connection was closed'))
  }

  private end(job: Job): void {
    this.all.delete(job)
    for (const sending of job.sendings) cancel(sending)
  }

  private fail(job: Job, error: unknown): void {
    job.over.reject(error)
    this.end(job)
  }

  private tick(): void {
    const now = systemClock.elapsed()
    const hasStalled = now - this.lastTick > STALL_MS
    this.lastTick = now
    for (const job of this.all)
      if (now >= job.until || job.signal?.aborted === true) this.fail(job, new TooLate())
      else if (now >= job.lateAt && !hasStalled) this.onLate(job, now)
    if (this.all.size > 0) return
    clearInterval(this.ticking)
    this.ticking = undefined
  }
}

const cancel = (sending: Sending): void => {
  if (sending.isOver) return
  sending.isOver = true
  sending.line?.close()
}
