import type { AnswerDeps, Call, WrittenAnswer } from '#actions/answer.ts'
import type { KeptAnswers } from '#actions/kept-answers.ts'
import { actions, modules } from '#actions/registry.ts'
import { type OptionDefaults, readOptions } from '#actions/request/options.ts'
import type { Query } from '#actions/request/query.ts'
import type { Gate } from '#gate/gate.ts'
import type { Exchange } from './exchange.ts'
import type { OpenFeeds } from './feed/open-feeds.ts'

/** What answers calls of `/api/` and `/api/{module}/{action}`. */
export type Api = {
  /** Without `kept` each request reads the store. */
  readonly deps: AnswerDeps & { readonly kept: KeptAnswers<WrittenAnswer> | undefined }
  readonly gate: Gate
  readonly defaults: OptionDefaults
  /** A body is cut off when its client takes nothing of it for this time. */
  readonly stallMs: number
  readonly feeds: OpenFeeds
}

/** The call that a request makes; notes its name for the log. Throws 'bad_request'. */
export const readCall = (exchange: Exchange, defaults: OptionDefaults): Call => {
  const query = [...routeOf(exchange.path), ...exchange.query]
  noteName(exchange, query)
  const acceptLanguage = exchange.request.headers.get('accept-language') ?? undefined
  return { query, options: readOptions(query, { acceptLanguage, defaults }) }
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
const noteName = ({ named }: Exchange, query: Query): void => {
  const sent = (parameter: string) => query.find(([key]) => key === parameter)?.[1].toLowerCase()
  const module = MODULES.get(sent('module') ?? '')
  const action = ACTIONS.get(sent('action') ?? '')
  if (module !== undefined) named.module = module
  if (action !== undefined) named.action = action
}

const MODULES: ReadonlyMap<string, string> = new Map(modules.map(name => [name, name]))
const ACTIONS: ReadonlyMap<string, string> = new Map(actions.map(({ action }) => [action, action]))
