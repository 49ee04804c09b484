import { type AnswerDeps, answer } from '#actions/answer.ts'
import { actions, modules } from '#actions/registry.ts'
import { type OptionDefaults, readOptions } from '#actions/request/options.ts'
import type { Query } from '#actions/request/query.ts'
import { toIso } from '#chain/time.ts'
import type { AdmittedHandler } from './admit.ts'
import { successText } from './envelope.ts'
import type { Exchange } from './exchange.ts'
import { JSON_TYPE, textReply } from './reply.ts'

/**
 * An answer may be shown for a second by the asker's own cache, then it is asked again with its ETag. Never by a shared
 * cache: the key is part of the URL.
 */
const CACHE_CONTROL = 'private, max-age=1'

/** Answers `/api/`: the query's action, written as the query's options say. */
export const apiHandler =
  (deps: AnswerDeps, defaults: OptionDefaults): AdmittedHandler =>
  async (exchange, signal, turns) => {
    const { query, request } = exchange
    name(exchange, query)
    const acceptLanguage = request.headers.get('accept-language') ?? undefined
    const options = readOptions(query, { acceptLanguage, defaults })
    const { data, at } = await answer(deps, { query, options }, { signal, turn: turns.store })
    const headers = {
      'Cache-Control': CACHE_CONTROL,
      Vary: 'X-API-Key',
      'X-Block-Height': String(at.height),
      'X-Block-Time': toIso(at.time),
    }
    return textReply(200, { type: JSON_TYPE, text: successText(data, options) }, { headers, form: 'tagged' })
  }

/** Module and action for the log, when they are names of ours. */
const name = ({ named }: Exchange, query: Query): void => {
  const sent = (parameter: string) => query.find(([key]) => key === parameter)?.[1].toLowerCase()
  const module = modules.find(known => known === sent('module'))
  const action = actions.find(known => known.action === sent('action'))
  if (module !== undefined) named.module = module
  if (action !== undefined) named.action = action.action
}
