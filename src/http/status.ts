import { successText } from '#actions/answer.ts'
import { OPTION_VALUES, type OptionDefaults, readOptions } from '#actions/request/options.ts'
import { writeJson } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import { type IdentifyDeps, identify } from '#gate/gate.ts'
import type { Rates } from '#gate/rate.ts'
import type { AppOptions } from './app-options.ts'
import { type Handler, refuseParameters } from './exchange.ts'
import { CLOCK, findLoadTroubles, findTroubles, type Health, isWhole, listFreshFields } from './health.ts'
import { JSON_TYPE, textReply } from './reply.ts'

const NOT_CACHED = { 'Cache-Control': 'no-store' }

/** `/health`: the process is up. It checks neither store nor node. */
export const healthHandler =
  (version: string): Handler =>
  async () =>
    textReply(200, { type: JSON_TYPE, text: writeJson({ status: 'ok', version }) }, { headers: NOT_CACHED })

/**
 * `/ready`: 200 when the service can answer from the store, else 503 with the reason: the store cannot be read, has
 * lost data, is of another version or absent, no block is published, the last loaded block is older than `maxLagMs`, or
 * the service stops. Replicas share their node and their loader, so a fault of these makes none of them unready unless
 * `readyNeedsNode` is set. Unknown fields are null.
 */
export function readyHandler({
  readHealth,
  version,
  maxLagMs = Number.POSITIVE_INFINITY,
  readyNeedsNode = false,
  stopping,
}: Pick<AppOptions, 'version' | 'maxLagMs' | 'readyNeedsNode' | 'stopping'> & {
  readonly readHealth: () => Promise<Health>
}): Handler {
  return async () => {
    if (stopping?.signal.aborted === true) return createNotReadyReply({ reason: 'The service is stopping.', version })
    const health = await readHealth()
    const { published, fresh } = health
    if (published === undefined || fresh === undefined)
      return createNotReadyReply({ reason: findTroubles(health)[0]?.what.en, version })
    const { height, time } = published
    const state = { height, time: toIso(time), whole: isWhole(health), ...listFreshFields(fresh), version }
    const [fault] = readyNeedsNode ? findLoadTroubles(fresh) : []
    const { lagSeconds } = fresh
    if (fault !== undefined) return createNotReadyReply({ reason: fault.what.en, ...state })
    if (lagSeconds === null && Number.isFinite(maxLagMs))
      return createNotReadyReply({ reason: CLOCK.what.en, ...state })
    if (lagSeconds !== null && lagSeconds * 1_000 > maxLagMs) {
      const reason = `The last loaded block is older than ${maxLagMs / 1_000} seconds (--max-lag).`
      return createNotReadyReply({ reason, ...state })
    }
    return textReply(200, { type: JSON_TYPE, text: writeJson({ ready: true, ...state }) }, { headers: NOT_CACHED })
  }
}

const createNotReadyReply = (state: Readonly<Record<string, unknown>>) =>
  textReply(
    503,
    { type: JSON_TYPE, text: writeJson({ ready: false, ...state }) },
    { headers: { ...NOT_CACHED, 'Retry-After': '5' } },
  )

/**
 * `/usage`: the limits of a key, and its remaining requests. It is answered from memory, does not count under the plan,
 * and waits for no permit, so that it answers when the key has no requests left or the service is busy.
 */
export const usageHandler =
  (gate: IdentifyDeps & { readonly rates: Rates }, defaults: OptionDefaults): Handler =>
  async exchange => {
    const caller = await identify(exchange, gate)
    if (exchange.fault !== undefined) throw exchange.fault
    refuseParameters(exchange, '/usage')
    const query = exchange.query.filter(([name]) => name in OPTION_VALUES)
    const acceptLanguage = exchange.request.headers.get('accept-language') ?? undefined
    const options = readOptions(query, { acceptLanguage, defaults })
    const { second, today, usedToday, dayEnds } = gate.rates.left(caller)
    const { id, name, expires, plan } = caller
    const { perSecond, perDay } = plan
    const data = {
      id,
      name,
      expires: expires === undefined ? null : formatIsoTime(expires),
      second: { limit: perSecond, remaining: second },
      today: { limit: perDay, used: usedToday, remaining: today, resets: formatIsoTime(dayEnds) },
    }
    return textReply(200, { type: JSON_TYPE, text: successText(data, options) }, { headers: NOT_CACHED })
  }

const formatIsoTime = (ms: number): string => new Date(ms).toISOString()
