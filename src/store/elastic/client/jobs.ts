import { systemClock } from '#time/clock.ts'
import { NoAnswer } from './http-line.ts'
import { newSending, type Sending } from './http-lines.ts'

/** A request that is under way, on one host or on several at once. Times are milliseconds of `Clock.elapsed`. */
export type Job<W, A> = Sending & {
  readonly what: W
  readonly since: number
  readonly until: number
  readonly signal: AbortSignal | undefined
  /** When it is late. */
  lateAt: number
  /** Settles the job beside its first sending. */
  readonly over: PromiseWithResolvers<A>
  /** The same request on its way to other hosts. */
  company: Sending[] | undefined
  hasFirstFailed: boolean
}

export type JobLimits = {
  readonly ms: number
  /** When the job is late for the first time. */
  readonly lateMs: number
  readonly signal?: AbortSignal | undefined
}

/** The answer did not come within its limits. */
export class TooLate extends Error {}

/** Jobs are looked over so often: a timer and a listener for each request would cost a tenth of it. */
const TICK_MS = 20
/** After a longer pause this process was busy itself, and answers may be waiting to be read. */
const STALL_MS = 100

export type Jobs<W extends { readonly host: object }, A> = {
  /** Does the work within the limits; `onLate` hears of it when it is late. Throws `TooLate`. */
  run(what: W, limits: JobLimits, work: (job: Job<W, A>) => Promise<A>): Promise<A>
  /** Sends the request of a job to another host, too; the first answer that counts is the job's, and the rest is cancelled. */
  accompany(job: Job<W, A>, work: (sending: Sending) => Promise<A>, options: Company<A>): void
  /** Gives up what a host has not answered; its jobs fail with `NoAnswer`, but for those that have company. */
  abandon(host: object): void
  endAll(): void
}

export type Company<A> = {
  readonly host: object
  /** Whether an answer may stand for the job. */
  readonly counts: (answer: A) => boolean
  /** It came before the others'. */
  readonly onFirst: () => void
}

/** All requests of a connection, looked over by one timer. */
export const openJobs = <W extends { readonly host: object }, A>(
  onLate: (job: Job<W, A>, now: number) => void,
): Jobs<W, A> => {
  const jobs = new Set<Job<W, A>>()
  let isTicking = false
  let lastTick = 0
  const cancel = (job: Job<W, A>): void => {
    jobs.delete(job)
    for (const sending of [job, ...(job.company ?? [])]) cancelSending(sending)
  }
  const fail = (job: Job<W, A>, error: Error): void => {
    job.over.reject(error)
    cancel(job)
  }
  const startTicking = (now: number): void => {
    if (isTicking) return
    isTicking = true
    lastTick = now
    systemClock.after(TICK_MS, tick)
  }
  const tick = (): void => {
    isTicking = false
    const now = systemClock.elapsed()
    const hasStalled = now - lastTick > STALL_MS
    for (const job of jobs)
      if (now >= job.until || job.signal?.aborted === true) fail(job, new TooLate())
      else if (now >= job.lateAt && !hasStalled) onLate(job, now)
    if (jobs.size > 0) startTicking(now)
  }
  /** One way to the answer is closed; the last one fails the job. */
  const wayClosed = (job: Job<W, A>, error: Error): void => {
    if (job.hasFirstFailed && (job.company ?? []).every(({ isOver }) => isOver)) fail(job, error)
  }
  return {
    run: async (what, limits, work) => {
      const job = newJob<W, A>(what, limits)
      jobs.add(job)
      startTicking(job.since)
      try {
        return await Promise.race([work(job), job.over.promise])
      } catch (error) {
        job.hasFirstFailed = true
        // Ended by its limits, or nobody else was asked.
        if (!jobs.has(job) || (job.company ?? []).every(({ isOver }) => isOver)) throw error
        return await job.over.promise
      } finally {
        cancel(job)
      }
    },
    accompany: (job, work, { host, counts, onFirst }) => {
      const sending = newSending(host)
      job.company = [...(job.company ?? []), sending]
      work(sending).then(
        answer => {
          if (sending.isOver || !jobs.has(job)) return
          sending.isOver = true
          if (!counts(answer)) return wayClosed(job, new NoAnswer('No other host could answer'))
          onFirst()
          job.over.resolve(answer)
          cancel(job)
        },
        error => {
          if (sending.isOver) return
          sending.isOver = true
          wayClosed(job, error)
        },
      )
    },
    abandon: host => {
      const error = new NoAnswer('it does not answer, and other servers do')
      for (const job of jobs) {
        for (const sending of job.company ?? []) if (sending.host === host) cancelSending(sending)
        if (job.host === host) {
          job.hasFirstFailed = true
          cancelSending(job)
        }
        wayClosed(job, error)
      }
    },
    endAll: () => {
      for (const job of jobs) fail(job, new NoAnswer('The connection was closed'))
    },
  }
}

const newJob = <W extends { readonly host: object }, A>(
  what: W,
  { ms, lateMs, signal }: JobLimits,
): Job<W, A> => {
  const since = systemClock.elapsed()
  const over = Promise.withResolvers<A>()
  return {
    what,
    since,
    until: since + ms,
    signal,
    lateAt: since + lateMs,
    over,
    company: undefined,
    hasFirstFailed: false,
    isOver: false,
    line: undefined,
    host: what.host,
  }
}

/** What was answered already leaves its connection for the next request. */
const cancelSending = (sending: Sending): void => {
  if (sending.isOver) return
  sending.isOver = true
  sending.line?.close()
}
