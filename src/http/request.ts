import { answer, shareAnswer } from '#actions/answer.ts'
import { type Failure, PublicFailure } from '#failure/failure.ts'
import { admit, identify } from '#gate/gate.ts'
import { type Api, answerReply, parseCall } from './api.ts'
import { ClientGone, type Handler, type Prolong, parse, type Service } from './exchange.ts'
import { exportReply } from './export/reply.ts'
import { feedReply } from './feed/reply.ts'
import { keepFirstResult } from './reply.ts'
import { send, sendFailure } from './send.ts'

/**
 * Handles a request: parses it, calls the handler of its route within the deadline, and sends the reply. A
 * failure thrown by any step is sent instead: 414 for a URL that is too long, 504 at the deadline, 503 when
 * the service stops, 500 for a defect, and the failures of the handler.
 */
export const respond =
  (route: string, handler: Handler, service: Service) =>
  async (request: Request): Promise<Response> => {
    const exchange = parse(request, route, service)
    const deadline = startDeadline({
      ms: service.deadlineMs,
      client: request.signal,
      running: service.stopping?.running,
    })
    try {
      if (exchange.refusal !== undefined) throw exchange.refusal
      const prolong: typeof deadline.prolong = ms => {
        service.connections?.limitIdle(request, 0)
        return deadline.prolong(ms)
      }
      const reply = await Promise.race([handler(exchange, deadline.signal, prolong), deadline.over])
      return send(exchange, reply, service)
    } catch (error) {
      return sendFailure(exchange, error, service)
    } finally {
      deadline.end()
    }
  }

/**
 * Answers a call of `/api/`. Each step may refuse it. `identify`: the key is missing or unknown (401), or
 * revoked or expired (403), or its network sent too many wrong keys (429). `admit`: the key's plan or its network's
 * share of the test key (429), or the capacity of the service (503) is exceeded, or the query cannot be read (400).
 * `parseCall`: an option does not exist (400). The action: a parameter is wrong (400), or a thing does not exist (404),
 * was replaced (409), is not loaded or not available (503).
 */
export const answerApi =
  ({ deps, gate, ...api }: Api): Handler =>
  async (exchange, signal, prolong) => {
    const caller = await identify(exchange, gate)
    const { permits, refused } = await admit(exchange, caller, { gate, asks: 'store', signal })
    try {
      const call = parseCall(exchange, api.defaults)
      const { export: format, isFeed } = call.options
      if (format !== undefined || isFeed === true) {
        const sending = { ...api, exchange, signal, prolong, permits }
        return await (format === undefined
          ? feedReply(deps, call, sending)
          : exportReply(deps, { ...call, format }, sending))
      }
      const { cache } = deps
      const way = { signal, prolong, acquire: permits.store(signal) }
      const found = cache === undefined ? answer(deps, call, way) : shareAnswer({ ...deps, cache }, call, way)
      return answerReply(exchange, await found, call.options)
    } catch (error) {
      refused(error)
      throw error
    }
  }

type Limits = {
  readonly ms: number
  readonly client: AbortSignal
  /** Set while the request runs: contains a function that ends the request when the service stops. */
  readonly running?: Set<(reason: Failure) => void> | undefined
}

type Deadline = {
  /** Aborts when the request ends before its answer. */
  readonly signal: AbortSignal
  /**
   * Rejects when `signal` aborts, even if the work ignores the signal: 'deadline', ClientGone, or the reason
   * of the service.
   */
  readonly over: Promise<never>
  readonly prolong: Prolong
  /** Ends the deadline once the answer is complete. */
  end(): void
}

/** Starts the deadline of a request: `ms` milliseconds, the client's disconnection, or the stop of the service. */
export function startDeadline({ ms, client, running }: Limits): Deadline {
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
      return keepFirstResult(restore)
    },
    end: () => {
      isOver = true
      clearTimeout(timer)
      client.removeEventListener('abort', abandon)
      running?.delete(stop)
    },
  }
}
