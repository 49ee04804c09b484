import { systemClock } from '#time/clock.ts'
import type { HttpAnswer } from './http-answer.ts'
import { type HttpLine, type LineOptions, NoAnswer } from './http-line.ts'
import { openLines } from './http-lines.ts'
import { slots } from './slots.ts'

/** Requests that change nothing, over kept connections of our own: a page is little else, and fetch takes longer for it. */
export type HttpReads = {
  /**
   * Any status is an answer. Throws `NoAnswer` when the connection fails, `TooLate` at the time limit and soon after the
   * signal aborts.
   */
  read(request: HttpRead, limits: ReadLimits): Promise<HttpAnswer>
  /** Requests under way fail; nothing is sent afterwards. */
  close(): void
}

export type HttpRead = {
  readonly method: 'GET' | 'POST'
  /** With its query. */
  readonly path: string
  readonly body?: string | undefined
  /** Media type of the body. */
  readonly type?: string
}

export type ReadLimits = { readonly ms: number; readonly signal?: AbortSignal | undefined }

/** The answer did not come within its limits. */
export class TooLate extends Error {}

export type HttpReadsOptions = LineOptions & {
  /** Of every request, such as Authorization. */
  readonly headers: Readonly<Record<string, string>>
  /** Requests that are under way at once; further ones wait. */
  readonly maxSockets: number
}

export const openReads = (options: HttpReadsOptions): HttpReads => {
  const textOf = requestText(options)
  const lines = openLines(options)
  const sockets = slots(options.maxSockets)
  const running = watchedLimits()
  const send = async (request: HttpRead, job: Job): Promise<HttpAnswer> => {
    await sockets.take()
    try {
      if (job.isOver) throw new TooLate()
      return await lines.send(textOf(request), line => {
        job.line = line
        if (job.isOver) line.close()
      })
    } finally {
      sockets.leave()
    }
  }
  return {
    read: (request, limits) => running.within(limits, job => send(request, job)),
    close: () => {
      running.endAll()
      lines.close()
    },
  }
}

/** A request that is under way. */
type Job = {
  readonly until: number
  readonly signal: AbortSignal | undefined
  readonly over: PromiseWithResolvers<never>
  /** Where it was sent. */
  line?: HttpLine
  isOver: boolean
}

/** Limits are looked at so often: a timer and a listener for each request would cost a tenth of it. */
const WATCH_MS = 20

/** Ends requests at their limits, all of them by one timer, and closes the connection that each was sent on. */
const watchedLimits = () => {
  const jobs = new Set<Job>()
  let isWatched = false
  const end = (job: Job, error: Error): void => {
    jobs.delete(job)
    job.isOver = true
    job.over.reject(error)
    job.line?.close()
  }
  const watch = (): void => {
    if (isWatched) return
    isWatched = true
    systemClock.after(WATCH_MS, look)
  }
  const look = (): void => {
    isWatched = false
    const now = systemClock.elapsed()
    for (const job of jobs) if (now >= job.until || job.signal?.aborted === true) end(job, new TooLate())
    if (jobs.size > 0) watch()
  }
  return {
    within: async <T>({ ms, signal }: ReadLimits, work: (job: Job) => Promise<T>): Promise<T> => {
      const over = Promise.withResolvers<never>()
      const job: Job = { until: systemClock.elapsed() + ms, signal, over, isOver: false }
      jobs.add(job)
      watch()
      try {
        return await Promise.race([work(job), over.promise])
      } finally {
        jobs.delete(job)
      }
    },
    endAll: (): void => {
      for (const job of jobs) end(job, new NoAnswer('The connection was closed'))
    },
  }
}

/** Writes a request as HTTP/1.1. */
const requestText = ({ url, headers }: HttpReadsOptions) => {
  const prefix = url.pathname.replace(/\/+$/, '')
  const all = { Host: url.host, Accept: 'application/json', 'Accept-Encoding': 'identity', ...headers }
  const head = Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  return ({ method, path, body, type = 'application/json' }: HttpRead): string => {
    const target = /[^!-~]/.test(path) ? encodeURI(path) : path
    const start = `${method} ${prefix}${target} HTTP/1.1\r\n${head}`
    if (body === undefined) return `${start}\r\n`
    return `${start}Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  }
}
