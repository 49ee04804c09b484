import {
  type Answer,
  type AnswerCache,
  type AnswerDeps,
  type ApiCall,
  successText,
  type WrittenAnswer,
} from '#actions/answer.ts'
import { actions, modules } from '#actions/registry.ts'
import { type OptionDefaults, type Options, readOptions } from '#actions/request/options.ts'
import type { Query } from '#actions/request/query.ts'
import { toIso } from '#chain/time.ts'
import type { Gate } from '#gate/gate.ts'
import type { HeadAt } from '#head/head-state.ts'
import type { Exchange } from './exchange.ts'
import type { OpenFeeds } from './feed/open-feeds.ts'
import { linkHeader } from './links.ts'
import { JSON_TYPE, type Reply, textReply } from './reply.ts'

/** The parts and settings of `/api/` and `/api/{module}/{action}`. */
export type Api = {
  /** Without `cache` each request reads the store. */
  readonly deps: AnswerDeps & { readonly cache: AnswerCache<WrittenAnswer> | undefined }
  readonly gate: Gate
  readonly defaults: OptionDefaults
  /** A response is aborted when its client reads none of it for this time. */
  readonly stallMs: number
  readonly feeds: OpenFeeds
}

/** The call of a request. Notes its name for the log. Throws 'bad_request'. */
export function parseCall(exchange: Exchange, defaults: OptionDefaults): ApiCall {
  const [, module, action] = ROUTE.exec(exchange.path) ?? []
  const query: Query =
    module === undefined || action === undefined
      ? exchange.query
      : [['module', module], ['action', action], ...exchange.query]
  for (const name of ['module', 'action'] as const) {
    const sent = query.find(([key]) => key === name)?.[1].toLowerCase()
    const known = NAMES[name].get(sent ?? '')
    if (known !== undefined) exchange.logFields[name] = known
  }
  const acceptLanguage = exchange.request.headers.get('accept-language') ?? undefined
  return { query, options: readOptions(query, { acceptLanguage, defaults }) }
}

/** A path with module and action, such as `/api/account/get-account-tx`; they are read like query parameters. */
const ROUTE = /^\/api\/([^/]+)\/([^/]+)\/?$/

/** The names that the log may have, by themselves: never a text of a request. */
const NAMES: Readonly<Record<'module' | 'action', ReadonlyMap<string, string>>> = {
  module: new Map(modules.map(name => [name, name])),
  action: new Map(actions.map(({ action }) => [action, action])),
}

/**
 * A private cache may reuse an answer for a second; then it must revalidate with the ETag. Shared caches may
 * not store it: the key is part of the URL.
 */
const CACHE_CONTROL = 'private, max-age=1'

/** The reply with an action's answer: its text, its height, and links to the neighbouring pages. */
export function answerReply(
  { query, replyOptions: { secrets } }: Pick<Exchange, 'query' | 'replyOptions'>,
  found: Answer | WrittenAnswer,
  options: Options,
): Reply {
  const { at, head, paged, taken } = found
  const text = 'text' in found ? found.text : successText(found.data, options)
  const headers = {
    'Cache-Control': CACHE_CONTROL,
    Vary: 'X-API-Key',
    'X-Block-Height': String(at.height),
    'X-Block-Time': toIso(at.time),
    ...(head && headHeaders(head)),
    ...(paged === undefined ? {} : { Link: linkHeader(query, paged, { taken, secrets }) }),
  }
  return textReply(200, { type: JSON_TYPE, text }, { headers, form: 'tagged' })
}

/** Headers with the head height and the status of the unconfirmed rows, for requests that ask for these rows. */
export function headHeaders({ status, height }: Pick<HeadAt, 'status' | 'height'>): Readonly<Record<string, string>> {
  return { 'X-Head-Status': status, ...(height === undefined ? {} : { 'X-Head-Height': String(height) }) }
}
