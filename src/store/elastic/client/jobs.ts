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

/** The ways on which a job may be answered. */
type Ways = Pick<Job<unknown, unknown>, 'company' | 'hasFirstFailed' | keyof Sending>

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
  accompany(job: Job<W, A>, work: (sending: Sending) => Promise<A>, company: Company<A>): Promise<void>
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
  const end = (job: Job<W, A>): void => {
    jobs.delete(job)
    for (const sending of [job, ...(job.company ?? [])]) cancel(sending)
  }
  const fail = (job: Job<W, A>, error: Error): void => {
    job.over.reject(error)
    end(job)
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
        if (!jobs.has(job) || isAlone(job)) throw error
        return await job.over.promise
      } finally {
        end(job)
      }
    },
    accompany: (job, work, company) => sendAlong(job, work, { ...company, end, fail }),
    abandon: host => {
      for (const job of jobs) {
        cancelAt(job, host)
        if (job.hasFirstFailed && isAlone(job))
          fail(job, new NoAnswer('it does not answer, and other servers do'))
      }
    },
    endAll: () => {
      for (const job of jobs) fail(job, new NoAnswer('The connection was closed'))
    },
  }
}

type Endings<W, A> = {
  readonly end: (job: Job<W, A>) => void
  readonly fail: (job: Job<W, A>, error: Error) => void
}

const sendAlong = async <W, A>(
  job: Job<W, A>,
  work: (sending: Sending) => Promise<A>,
  { host, counts, onFirst, end, fail }: Company<A> & Endings<W, A>,
): Promise<void> => {
  const sending = newSending(host)
  job.company = [...(job.company ?? []), sending]
  let failure: Error = new NoAnswer('No other host could answer')
  try {
    const answer = await work(sending)
    if (sending.isOver) return
    if (counts(answer)) {
      onFirst()
      job.over.resolve(answer)
      return end(job)
    }
  } catch (error) {
    if (sending.isOver) return
    if (error instanceof Error) failure = error
  }
  sending.isOver = true
  // That was the last way to an answer.
  if (job.hasFirstFailed && isAlone(job)) fail(job, failure)
}

const isAlone = ({ company = [] }: Ways): boolean => company.every(({ isOver }) => isOver)

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

const cancelAt = (job: Ways, host: object): void => {
  for (const sending of job.company ?? []) if (sending.host === host) cancel(sending)
  if (job.host !== host) return
  job.hasFirstFailed = true
  cancel(job)
}

const cancel = (sending: Sending): void => {
  if (sending.isOver) return
  sending.isOver = true
  sending.line?.close()
}
