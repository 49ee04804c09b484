import { badRequest } from '#actions/request/refusals.ts'
import { Failure } from '#failure/failure.ts'
import type { Keyring } from '#keys/keyring.ts'
import type { RateAnswer, Rates } from '#keys/rate.ts'
import type { Clock } from '#time/clock.ts'
import type { Begin, Exchange } from './exchange.ts'
import { Busy } from './fair-queue.ts'
import type { Reply } from './reply.ts'
import { type Queues, type Turns, turnsOf } from './turns.ts'

export type Gate = {
  readonly keyring: Keyring
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
  (handler: AdmittedHandler, asks: 'store' | 'node', { keyring, rates, queues, clock }: Gate): Begin =>
  async exchange => {
    const caller = await keyring.check(keyOf(exchange))
    queues[asks].check(caller.id)
    const rate = rates.take(caller)
    Object.assign(exchange.headers, rateHeaders(rate))
    if (!rate.allowed) throw tooFast(rate)
    if (exchange.fault !== undefined) throw exchange.fault
    return async (admitted, signal) => {
      if (rate.waitMs > 0) await pause(rate.waitMs, clock, signal)
      try {
        return await handler(admitted, signal, turnsOf(queues, caller.id, signal))
      } catch (error) {
        if (error instanceof Busy) rates.giveBack(caller, rate)
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
      if (caller !== undefined) queues[asks].check(caller.id)
    } catch (error) {
      if (error instanceof Busy) return error
    }
    return undefined
  }

const pause = async (ms: number, clock: Clock, signal: AbortSignal): Promise<void> => {
  await clock.sleep(ms, signal)
  signal.throwIfAborted()
}

/** The key of a request, from `apikey` or `X-API-Key`; both only if they agree. */
const keyOf = ({ keys, request }: Exchange): string => {
  const [key = ''] = keys
  if (keys.length > 1)
    throw badRequest(
      {
        en: `Parameter 'apikey' is given ${keys.length} times; give it once.`,
        zh: `参数 'apikey' 出现了 ${keys.length} 次，只能提供一次。`,
      },
      { parameter: 'apikey' },
    )
  const header = request.headers.get('x-api-key')
  if (header !== null && keys.length === 1 && header !== key)
    throw badRequest(
      {
        en: "Parameter 'apikey' and header X-API-Key differ; give only one of them.",
        zh: "参数 'apikey' 与请求头 X-API-Key 不一致；请只提供其中一个。",
      },
      { parameter: 'apikey' },
    )
  const given = keys.length === 1 ? key : (header ?? '')
  if (given === '')
    throw new Failure('unauthorized', "An API key is required; give it in the parameter 'apikey'.", {
      zh: "缺少 API key；请通过参数 'apikey' 提供。",
    })
  return given
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
