import { type Failure, PublicFailure } from '#failure/failure.ts'
import { lazy } from './reply.ts'

/** The client closed the connection, so the answer has no reader. */
export class ClientGone extends Error {
  constructor() {
    super('The client closed the connection.')
    this.name = 'ClientGone'
  }
}

export type Deadline = {
  /** Aborts when the request ends before its answer. */
  readonly signal: AbortSignal
  /**
   * Rejects when `signal` aborts, even if the work ignores the signal: 'deadline', ClientGone, or the reason
   * of the service.
   */
  readonly over: Promise<never>
  /**
   * Extends the deadline, from now on, to `ms` plus the usual time; undefined: no limit. The returned function
   * ends the extension. Once all extensions have ended, the rest of the work has the usual time, from then on.
   */
  readonly prolong: (ms: number | undefined) => () => void
  /** Ends the deadline once the answer is complete. */
  end(): void
}

/**
 * Starts the deadline of a request: `ms` milliseconds, the client's disconnection, or the stop of the service, for which
 * `running` contains a function that ends the request.
 */
export function startDeadline({
  ms,
  client,
  running,
}: {
  readonly ms: number
  readonly client: AbortSignal
  readonly running?: Set<(reason: Failure) => void> | undefined
}): Deadline {
  const controller = new AbortController()
  const over = Promise.withResolvers<never>()
  // The promise has no observer once the answer is complete.
  over.promise.catch(() => undefined)
  const stop = (reason: Error): void => {
    controller.abort(reason)
    over.reject(reason)
  }
  const abandon = (): void => stop(new ClientGone())
  let isOver = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let until = Number.NEGATIVE_INFINITY
  let prolonged = 0
  const limit = (allMs: number): void => {
    const end = performance.now() + allMs
    if (isOver || end <= until) return
    until = end
    clearTimeout(timer)
    const message = `The request took longer than ${allMs} ms.`
    const late = () => stop(new PublicFailure('deadline', message, { zh: `处理时间超过 ${allMs} 毫秒。` }))
    timer = Number.isFinite(allMs) ? setTimeout(late, allMs) : undefined
  }
  const restore = (): void => {
    prolonged -= 1
    if (prolonged > 0) return
    until = Number.NEGATIVE_INFINITY
    limit(ms)
  }
  limit(ms)
  // The work then starts with an aborted signal.
  if (client.aborted) abandon()
  else client.addEventListener('abort', abandon, { once: true })
  running?.add(stop)
  return {
    signal: controller.signal,
    over: over.promise,
    prolong: more => {
      prolonged += 1
      limit(more === undefined ? Number.POSITIVE_INFINITY : more + ms)
      return lazy(restore)
    },
    end: () => {
      isOver = true
      clearTimeout(timer)
      client.removeEventListener('abort', abandon)
      running?.delete(stop)
    },
  }
}
