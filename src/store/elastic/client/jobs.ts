import { systemClock } from '#time/clock.ts'
import type { HttpAnswer } from './http-answer.ts'
import type { Host, Sending } from './http-host.ts'
import { NoAnswer } from './http-line.ts'
import type { Answer, Request } from './request.ts'

export type JobLimits = {
  readonly ms: number
  /** When the job is late for the first time. */
  readonly lateMs: number
  readonly signal?: AbortSignal | undefined
}

/** A request that is under way, on one host or on several at once. Times are milliseconds of `Clock.elapsed`. */
export type Job = {
  /** Where it went first. */
  readonly host: Host
  /** undefined: a probe, whose answer may be of anybody. */
  readonly request: Request | undefined
  readonly since: number
  readonly until: number
  readonly signal: AbortSignal | undefined
  /** When it is late. */
  lateAt: number
  /** The request on its way to `host`. */
  readonly first: Sending
  /** The same request on its way, to others, too. */
  readonly sendings: Sending[]
  readonly over: PromiseWithResolvers<Answer>
  /** `HostChoice.changes` when it was last sent. */
  changes: number
  /** Hosts that it was sent without, beginning with its own. */
  triedWithout: number
}

/** The answer did not come within its limits. */
export class TooLate extends Error {}

/** Milliseconds between two looks at all jobs: a timer and a listener for each request would cost a tenth of it. */
const TICK_MS = 20
/** After a longer pause this process was busy itself, and answers may be waiting to be read. */
const STALL_MS = 100

/** All requests of a connection, looked over by one timer. */
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
   * The job is answered by what the work gives, or fails with it where that was the last way to an answer. Resolves with
   * whether it was answered so; never rejects.
   */
  async follow(job: Job, sending: Sending, work: Promise<HttpAnswer>): Promise<boolean> {
    let failure: unknown
    try {
      const received = await work
      if (sending.isOver) return false
      const answer = job.request === undefined ? received : sending.host.checked(received)
      // Others' answers stand for the job unless they tell of overload, or of the trouble of one server.
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

  /** Gives up what a host has not answered; its jobs fail with `NoAnswer`, but for those that are elsewhere, too. */
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
