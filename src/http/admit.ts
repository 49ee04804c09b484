import { Failure } from '#failure/failure.ts'
import type { Caller } from '#keys/keyring.ts'
import type { RateAnswer, Rates } from '#keys/rate.ts'
import type { Clock } from '#time/clock.ts'
import type { Exchange } from './exchange.ts'
import { Busy } from './fair-queue.ts'
import { type Identifying, keyOf } from './identify.ts'
import { type Queues, type Turns, turnsOf } from './turns.ts'

export type Gate = Identifying & {
  readonly rates: Rates
  readonly queues: Queues
  readonly clock: Clock
}

/** A request that was let through. */
export type Admitted = {
  readonly turns: Turns
  /** Gives back what counted under the plan when the request was refused for lack of room after all. */
  refused(error: unknown): void
}

/**
 * Lets a request with a good key through, within its plan and the service's capacity. Nothing of the request is looked
 * at before the key is known to be good. Throws 'unauthorized', 'rate_limited', 'unavailable', and what is wrong with the
 * text of the query.
 */
export const admit = async (
  exchange: Exchange,
  caller: Caller,
  {
    gate,
    asks,
    signal,
  }: { readonly gate: Gate; readonly asks: 'store' | 'node'; readonly signal: AbortSignal },
): Promise<Admitted> => {
  const { rates, queues, clock } = gate
  exchange.named.key = caller.id
  queues[asks].check(caller.id)
  const rate = rates.take(caller)
  Object.assign(exchange.headers, rateHeaders(rate))
  if (!rate.allowed) throw tooFast(rate)
  if (exchange.fault !== undefined) throw exchange.fault
  if (rate.waitMs > 0) await pause(rate.waitMs, clock, signal)
  return {
    turns: turnsOf(queues, { key: caller.id, plan: planOf(caller, { rates, clock }) }, signal),
    refused: error => {
      if (error instanceof Busy || isTooMuch(error)) rates.giveBack(caller, rate)
    },
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
