import { answer, sharedAnswer } from '#actions/answer.ts'
import { admit, identified } from '#gate/gate.ts'
import { type Api, answerReply, readCall } from './api.ts'
import { startDeadline } from './deadline.ts'
import { type Handler, parse, type Service } from './exchange.ts'
import { exportReply } from './export/reply.ts'
import { feedReply } from './feed/reply.ts'
import { send, sendFailure } from './send.ts'

/**
 * The way of every request: it is parsed, answered by the handler of its route within the deadline, and sent. Whatever a
 * step throws is sent in its place: 414 for a URL that is too long, 504 at the deadline, 503 when the service stops, 500
 * for a defect, and what the handler throws. The function that it gives never throws.
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
        service.keepOpen?.(request)
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
 * The way of a call of `/api/`. Each step may refuse it: `identified` a key that is missing, unknown (401), revoked or
 * expired (403), or too many of them from one network (429); `admit` what is beyond the key's plan (429) or beyond what the
 * service can take (503), and a query that cannot be read (400); `readCall` options that do not exist (400); the answer
 * wrong parameters (400), what does not exist (404), was replaced (409), is not loaded or not available (503).
 */
export const answerApi =
  ({ deps, gate, ...api }: Api): Handler =>
  async (exchange, signal, prolong) => {
    const caller = await identified(exchange, gate)
    const { turns, refused } = await admit(exchange, caller, { gate, asks: 'store', signal })
    try {
      const call = readCall(exchange, api.defaults)
      const { export: format, isFeed } = call.options
      const sending = { ...api, exchange, signal, prolong, turns }
      if (format !== undefined) return await exportReply(deps, { ...call, format }, sending)
      if (isFeed === true) return await feedReply(deps, call, sending)
      const { kept } = deps
      const way = { signal, prolong, turn: turns.store(signal) }
      const found = kept === undefined ? answer(deps, call, way) : sharedAnswer({ ...deps, kept }, call, way)
      return answerReply(exchange, await found, call.options)
    } catch (error) {
      refused(error)
      throw error
    }
  }
