import { type AnswerDeps, answerText, type WrittenAnswer } from '#actions/answer.ts'
import type { KeptAnswers } from '#actions/kept-answers.ts'
import { actions, modules } from '#actions/registry.ts'
import { type OptionDefaults, readOptions } from '#actions/request/options.ts'
import type { Query } from '#actions/request/query.ts'
import { toIso } from '#chain/time.ts'
import type { AdmittedHandler } from './admit.ts'
import { successText } from './envelope.ts'
import type { Exchange } from './exchange.ts'
import { exportReply } from './export/reply.ts'
import type { OpenFeeds } from './feed/open-feeds.ts'
import { feedReply } from './feed/reply.ts'
import { headHeaders } from './head-headers.ts'
import { linkHeader } from './links.ts'
import { JSON_TYPE, textReply } from './reply.ts'

/**
 * An answer may be shown for a second by the asker's own cache, then it is asked again with its ETag. Never by a shared
 * cache: the key is part of the URL.
 */
const CACHE_CONTROL = 'private, max-age=1'

export type ApiOptions = {
  readonly defaults: OptionDefaults
  readonly stallMs: number
  readonly feeds: OpenFeeds
  /** Absent: each request reads the store. */
  readonly kept: KeptAnswers<WrittenAnswer> | undefined
}

/** Answers `/api/` and `/api/{module}/{action}`: the query's action, written as the query's options say. */
export const apiHandler =
  (deps: AnswerDeps, { defaults, stallMs, feeds, kept }: ApiOptions): AdmittedHandler =>
  async (exchange, signal, turns) => {
    const { request } = exchange
    const query = [...routeOf(exchange.path), ...exchange.query]
    name(exchange, query)
    const acceptLanguage = request.headers.get('accept-language') ?? undefined
    const options = readOptions(query, { acceptLanguage, defaults })
    if (options.export !== undefined)
      return exportReply(
        deps,
        { query, options, format: options.export },
        { exchange, signal, turns, stallMs },
      )
    if (options.isFeed === true)
      return feedReply(deps, { query, options }, { exchange, signal, turns, stallMs, feeds })
    const { text, at, head, paged, takes } = await answerText(
      { ...deps, kept },
      { query, options },
      { signal, turn: turns.store, write: data => successText(data, options) },
    )
    const { secrets } = exchange.manner
    const headers = {
      'Cache-Control': CACHE_CONTROL,
      Vary: 'X-API-Key',
      'X-Block-Height': String(at.height),
      'X-Block-Time': toIso(at.time),
      ...headHeaders(head),
      ...(paged === undefined ? {} : { Link: linkHeader(exchange.query, paged, { takes, secrets }) }),
    }
    return textReply(200, { type: JSON_TYPE, text }, { headers, form: 'tagged' })
  }

const ROUTE = /^\/api\/([^/]+)\/([^/]+)\/?$/

/** Module and action of a path that names them, as the query would. */
const routeOf = (path: string): Query => {
  const [, module, action] = ROUTE.exec(path) ?? []
  if (module === undefined || action === undefined) return []
  return [
    ['module', module],
    ['action', action],
  ]
}

/** Module and action for the log, when they are names of ours. */
const name = ({ named }: Exchange, query: Query): void => {
  const sent = (parameter: string) => query.find(([key]) => key === parameter)?.[1].toLowerCase()
  const module = modules.find(known => known === sent('module'))
  const action = actions.find(known => known.action === sent('action'))
  if (module !== undefined) named.module = module
  if (action !== undefined) named.action = action.action
}
