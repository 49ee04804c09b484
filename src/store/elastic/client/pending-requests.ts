import { systemClock } from '#time/clock.ts'
import { NoResponse } from './http-connection.ts'
import type { Attempt, Host } from './http-host.ts'
import type { HttpResponse } from './http-response.ts'
import type { ElasticResponse, Request } from './request.ts'

export type JobLimits = {
  readonly ms: number
  /** Time after which the job is late for the first time. */
  readonly lateMs: number
  readonly signal?: AbortSignal | undefined
}

/** A request under way, on one or several hosts. Times are milliseconds of `Clock.elapsed`. */
export type PendingRequest = {
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
  readonly first: Attempt
  /** All attempts, including those at other hosts. */
  readonly attempts: Attempt[]
  readonly result: PromiseWithResolvers<ElasticResponse>
  /** `HostChoice.changes` at the last attempt. */
  changes: number
  /** Number of hosts that were avoided in further attempts, beginning with its own. */
  triedWithout: number
}

/** The answer did not arrive within the limits. */
export class RequestTimeout extends Error {}

/** Milliseconds between two checks of all jobs: a timer and a listener per request would cost a tenth more. */
const TICK_MS = 20
/** After a longer pause this process itself was busy, and answers may be waiting to be read. Milliseconds. */
const STALL_MS = 100

/** All requests of a connection, supervised by one timer. */
export class PendingRequests {
  private readonly all = new Set<PendingRequest>()
  private readonly onLate: (pending: PendingRequest, now: number) => void
  private ticking: Timer | undefined
  private lastTick = 0

  constructor(onLate: (pending: PendingRequest, now: number) => void) {
    this.onLate = onLate
  }

  begin(host: Host, request: Request | undefined, { ms, lateMs, signal }: JobLimits): PendingRequest {
    const since = systemClock.elapsed()
    const first = { host, connection: undefined, isOver: false }
    const pending: PendingRequest = {
      host,
      request,
      since,
      until: since + ms,
      signal,
      lateAt: since + lateMs,
      first,
      attempts: [first],
      result: Promise.withResolvers<ElasticResponse>(),
      changes: 0,
      triedWithout: 0,
    }
    this.all.add(pending)
    if (this.ticking === undefined) {
      this.lastTick = since
      this.ticking = setInterval(() => this.tick(), TICK_MS)
    }
    return pending
  }

  /**
   * Resolves the job with the answer of `work`, or rejects it with the error if no other attempt is under
   * way. Returns whether this attempt answered the job; never rejects.
   */
  async track(pending: PendingRequest, attempt: Attempt, work: Promise<HttpResponse>): Promise<boolean> {
    let failure: unknown
    try {
      const received = await work
      if (attempt.isOver) return false
      const answer = pending.request === undefined ? received : attempt.host.checked(received)
      // Another host's answer counts unless it reports overload or a failure of that server.
      if (attempt === pending.first || answer.status < 429) {
        attempt.isOver = true
        pending.result.resolve(answer)
        this.end(pending)
        return true
      }
      failure = new NoResponse('No other host could answer')
    } catch (error) {
      if (attempt.isOver) return false
      failure = error
    }
    attempt.isOver = true
    if (pending.attempts.every(({ isOver }) => isOver)) this.fail(pending, failure)
    return false
  }

  /** Gives up the attempts at a host. A request fails with `NoResponse` if it has no attempt at another host. */
  abandon(host: Host): void {
    for (const pending of this.all) {
      for (const attempt of pending.attempts) if (attempt.host === host) cancel(attempt)
      if (pending.attempts.every(({ isOver }) => isOver))
        this.fail(pending, new NoResponse('it does not answer, and other servers do'))
    }
  }

  endAll(): void {
    for (const pending of this.all) this.fail(pending, new NoResponse('The connection was closed'))
  }

  private end(pending: PendingRequest): void {
    this.all.delete(pending)
    for (const attempt of pending.attempts) cancel(attempt)
  }

  private fail(pending: PendingRequest, error: unknown): void {
    pending.result.reject(error)
    this.end(pending)
  }

  private tick(): void {
    const now = systemClock.elapsed()
    const hasStalled = now - this.lastTick > STALL_MS
    this.lastTick = now
    for (const pending of this.all)
      if (now >= pending.until || pending.signal?.aborted === true) this.fail(pending, new RequestTimeout())
      else if (now >= pending.lateAt && !hasStalled) this.onLate(pending, now)
    if (this.all.size > 0) return
    clearInterval(this.ticking)
    this.ticking = undefined
  }
}

const cancel = (attempt: Attempt): void => {
  if (attempt.isOver) return
  attempt.isOver = true
  attempt.connection?.close()
}
