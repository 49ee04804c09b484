import { successText } from '#actions/answer.ts'
import { OPTION_VALUES, type OptionDefaults, readOptions } from '#actions/request/options.ts'
import { type IdentifyDeps, identify } from '#gate/gate.ts'
import type { Rates } from '#gate/rate.ts'
import { type Handler, refuseParameters } from './exchange.ts'
import { JSON_TYPE, textReply } from './reply.ts'

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
    return textReply(
      200,
      { type: JSON_TYPE, text: successText(data, options) },
      { headers: { 'Cache-Control': 'no-store' } },
    )
  }

const formatIsoTime = (ms: number): string => new Date(ms).toISOString()
