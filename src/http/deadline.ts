import { type Failure, PublicFailure } from '#failure/failure.ts'
import { once } from './once.ts'

/** The caller closed the connection, so no one reads the answer. */
export class ClientGone extends Error {
  constructor() {
    super('The client closed the connection.')
    this.name = 'ClientGone'
  }
}

type Limits = {
  readonly ms: number
  readonly client: AbortSignal
  /** Until `end`, the function that ends the request when the service stops is in here. */
  readonly running?: Set<(reason: Failure) => void> | undefined
}

/**
 * Extends the deadline to this time plus the usual one, from now on; undefined: without limit. What it gives back ends that: once all
 * that took longer is done, the rest has the usual time, from then on.
 */
export type Prolong = (ms: number | undefined) => () => void

export type Deadline = {
  /** Aborts when the request is over before its answer. */
  readonly signal: AbortSignal
  /** Rejects then, whether the work heeds the signal or not: 'deadline', ClientGone, or why the service ends the request. */
  readonly over: Promise<never>
  readonly prolong: Prolong
  /** The answer is there. */
  end(): void
}

/** Begins the time of a request: `ms` milliseconds, or until the client goes away or the service stops. */
export const startDeadline = ({ ms, client, running }: Limits): Deadline => {
  const controller = new AbortController()
  const over = Promise.withResolvers<never>()
  // Nobody waits for it once the answer is there.
  over.promise.catch(() => undefined)
  const stop = (reason: Error): void => {
    controller.abort(reason)
    over.reject(reason)
  }
  const gone = (): void => stop(new ClientGone())
  let isOver = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let until = Number.NEGATIVE_INFINITY
  let prolonged = 0
  const limit = (allMs: number): void => {
    const end = performance.now() + allMs
    if (isOver || end <= until) return
    until = end
    clearTimeout(timer)
    timer = Number.isFinite(allMs) ? setTimeout(() => stop(tooLate(allMs)), allMs) : undefined
  }
  const restore = (): void => {
    prolonged -= 1
    if (prolonged > 0) return
    until = Number.NEGATIVE_INFINITY
    limit(ms)
  }
  limit(ms)
  // The work then begins with a signal that has aborted.
  if (client.aborted) gone()
  else client.addEventListener('abort', gone, { once: true })
  running?.add(stop)
  return {
    signal: controller.signal,
    over: over.promise,
    prolong: more => {
      prolonged += 1
      limit(more === undefined ? Number.POSITIVE_INFINITY : more + ms)
      return once(restore)
    },
    end: () => {
      isOver = true
      clearTimeout(timer)
      client.removeEventListener('abort', gone)
      running?.delete(stop)
    },
  }
}

const tooLate = (ms: number): PublicFailure =>
  new PublicFailure('deadline', `The request took longer than ${ms} ms.`, { zh: `处理时间超过 ${ms} 毫秒。` })
