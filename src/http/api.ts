import { type AnswerDeps, answerText, type Call, type WrittenAnswer } from '#actions/answer.ts'
import type { KeptAnswers } from '#actions/kept-answers.ts'
import { actions, modules } from '#actions/registry.ts'
import { type OptionDefaults, readOptions } from '#actions/request/options.ts'
import type { Query } from '#actions/request/query.ts'
import { toIso } from '#chain/time.ts'
import { admit, type Gate } from '#gate/gate.ts'
import { successText } from './envelope.ts'
import type { Exchange, Handler } from './exchange.ts'
import { exportReply } from './export/reply.ts'
import type { OpenFeeds } from './feed/open-feeds.ts'
import { feedReply } from './feed/reply.ts'
import { headHeaders } from './head-headers.ts'
import { linkHeader } from './links.ts'
import { JSON_TYPE, type Reply, textReply } from './reply.ts'

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
  (deps: AnswerDeps, gate: Gate, ways: ApiOptions): Handler =>
  async (exchange, signal) => {
    const admitted = await admit(exchange, signal, { gate, asks: 'store' })
    const { turns } = admitted
    try {
      const call = callOf(exchange, ways.defaults)
      const { export: format, isFeed } = call.options
      const { stallMs, feeds, kept } = ways
      if (format !== undefined)
        return await exportReply(deps, { ...call, format }, { exchange, signal, turns, stallMs })
      if (isFeed === true) return await feedReply(deps, call, { exchange, signal, turns, stallMs, feeds })
      const write = (data: unknown): string => successText(data, call.options)
      const answer = await answerText({ ...deps, kept }, call, { signal, turn: turns.store, write })
      return answerReply(exchange, answer)
    } catch (error) {
      admitted.refused(error)
      throw error
    }
  }

/** The call that a request makes, and its name for the log. Throws 'bad_request'. */
const callOf = (exchange: Exchange, defaults: OptionDefaults): Call => {
  const query = [...routeOf(exchange.path), ...exchange.query]
  name(exchange, query)
  const acceptLanguage = exchange.request.headers.get('accept-language') ?? undefined
  return { query, options: readOptions(query, { acceptLanguage, defaults }) }
}

const answerReply = (
  { query, manner: { secrets } }: Exchange,
  { text, at, head, paged, takes }: WrittenAnswer,
): Reply => {
  const headers = {
    'Cache-Control': CACHE_CONTROL,
    Vary: 'X-API-Key',
    'X-Block-Height': String(at.height),
    'X-Block-Time': toIso(at.time),
    ...headHeaders(head),
    ...(paged === undefined ? {} : { Link: linkHeader(query, paged, { takes, secrets }) }),
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
