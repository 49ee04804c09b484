import { Failure } from '#failure/failure.ts'
import type { Caller } from '#keys/keyring.ts'
import type { RateAnswer, Rates } from '#keys/rate.ts'
import type { Clock } from '#time/clock.ts'
import type { Begin, Exchange } from './exchange.ts'
import { Busy } from './fair-queue.ts'
import { type Identifying, identified, keyOf } from './identify.ts'
import type { Reply } from './reply.ts'
import { type Queues, type Turns, turnsOf } from './turns.ts'

export type Gate = Identifying & {
  readonly rates: Rates
  readonly queues: Queues
  readonly clock: Clock
}

/** Answers a caller, who waits for its turn before the store or a node is asked. */
export type AdmittedHandler = (exchange: Exchange, signal: AbortSignal, turns: Turns) => Promise<Reply>

/**
 * Lets a request with a good key through, within its plan and the service's capacity. Nothing of the request is looked
 * at before the key is known to be good, and those for whom there is no room cost as little as can be.
 */
export const admitting =
  (handler: AdmittedHandler, asks: 'store' | 'node', gate: Gate): Begin =>
  async exchange => {
    const { rates, queues, clock } = gate
    const { caller } = await identified(exchange, gate)
    exchange.named.key = caller.id
    queues[asks].check(caller.id)
    const rate = rates.take(caller)
    Object.assign(exchange.headers, rateHeaders(rate))
    if (!rate.allowed) throw tooFast(rate)
    if (exchange.fault !== undefined) throw exchange.fault
    return async (admitted, signal) => {
      if (rate.waitMs > 0) await pause(rate.waitMs, clock, signal)
      try {
        const plan = planOf(caller, { rates, clock })
        return await handler(admitted, signal, turnsOf(queues, { key: caller.id, plan }, signal))
      } catch (error) {
        if (error instanceof Busy || isTooMuch(error)) rates.giveBack(caller, rate)
        throw error
      }
    }
  }

/**
 * The refusal of a request for which there is no room, before any work is done for it. Only possible while the list of
 * keys is fresh, so that the key can be looked up without waiting. undefined: the request is handled as usual.
 */
export const crowdedOut =
  (asks: 'store' | 'node', { keyring, queues }: Pick<Gate, 'keyring' | 'queues'>) =>
  (exchange: Exchange): Busy | undefined => {
    try {
      const caller = keyring.known(keyOf(exchange))
      if (caller === undefined) return undefined
      exchange.named.key = caller.id
      queues[asks].check(caller.id)
    } catch (error) {
      if (error instanceof Busy) return error
    }
    return undefined
  }

/** A request that would have counted as more than the plan has left. */
const isTooMuch = (error: unknown): boolean => error instanceof Failure && error.kind === 'rate_limited'

const planOf = (caller: Caller, { rates, clock }: Pick<Gate, 'rates' | 'clock'>): Turns['plan'] => ({
  more: async signal => {
    for (let ms = rates.takeMore(caller); ms > 0; ms = rates.takeMore(caller)) await pause(ms, clock, signal)
  },
  require: requests => rates.requireToday(caller, requests),
})

const pause = async (ms: number, clock: Clock, signal: AbortSignal): Promise<void> => {
  await clock.sleep(ms, signal)
  signal.throwIfAborted()
}

/** The RateLimit header fields (draft-ietf-httpapi-ratelimit-headers-03, the form clients know). */
const rateHeaders = ({ limit, remaining, resetSeconds }: RateAnswer): Record<string, string> => ({
  'RateLimit-Limit': String(limit),
  'RateLimit-Remaining': String(remaining),
  'RateLimit-Reset': String(resetSeconds),
})

const tooFast = ({ limit, scope, retryAfter }: RateAnswer): Failure =>
  new Failure('rate_limited', `This API key is limited to ${limit} requests per ${scope}.`, {
    zh: `此 API key 每${scope === 'day' ? '天' : '秒'}最多 ${limit} 次请求。`,
    details: { retryAfter },
  })
