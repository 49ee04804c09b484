import {
  type Answer,
  type AnswerCache,
  type AnswerDeps,
  type ApiCall,
  successText,
  type WrittenAnswer,
} from '#actions/answer.ts'
import type { Paged } from '#actions/list/paging.ts'
import { actions, modules } from '#actions/registry.ts'
import { type OptionDefaults, type Options, readOptions } from '#actions/request/options.ts'
import type { Query } from '#actions/request/query.ts'
import { toIso } from '#chain/time.ts'
import { removeSecrets } from '#failure/failure.ts'
import type { Gate } from '#gate/gate.ts'
import type { HeadAt } from '#head/head-state.ts'
import type { Exchange } from './exchange.ts'
import type { OpenFeeds } from './feed/open-feeds.ts'
import { JSON_TYPE, type Reply, textReply } from './reply.ts'

/** Decides which parameters of a request its links repeat. */
type Repeated = {
  /** The names of parameters that the action reads. */
  readonly taken: ReadonlySet<string>
  /** Keys that came with the request. */
  readonly secrets: readonly string[]
}

/**
 * A parameter that the action does not read is left out when it is longer than this, or when it and those before it
 * together exceed the second limit, in characters. The header repeats them four times, and proxies accept a few thousand
 * characters of headers.
 */
const UNREAD_LETTERS = 128
const ALL_UNREAD_LETTERS = 512

/**
 * The `Link` header (RFC 8288) of a page: `first`, `prev`, `next` and `last` of the same request. The
 * references are only queries, so they are valid on every address of the interface and behind any path
 * prefix. The key is not in them. Beyond the end `prev` is the last page. Where rows are added and removed at
 * the front (`lastId`), `next` contains the id of the page's last row.
 */
export function linkHeader(query: Query, { page, size, total, lastId }: Paged, repeated: Repeated): string {
  if (total === undefined) return searchedLinks(query, lastId, repeated)
  const last = BigInt(Math.max(1, Math.ceil(total / size)))
  const pages = [
    ['first', 1n],
    ['prev', page > last ? last : page - 1n],
    ['next', page < last ? page + 1n : 0n],
    ['last', last],
  ] as const
  const pairs = selectRepeated(query, repeated)
  // The query before and after the page number, which keeps its position or comes at the end.
  let [ahead, behind, isBehind] = ['', '', false]
  for (const pair of pairs)
    if (isBehind) behind += `&${pairText(pair)}`
    else if (pair[0] === 'page') isBehind = true
    else ahead += `${pairText(pair)}&`
  const links: string[] = []
  for (const [relation, number] of pages) {
    if (number <= 0n) continue
    const text =
      relation === 'next' && lastId !== undefined ? formatNextQuery(pairs, lastId) : `${ahead}page=${number}${behind}`
    links.push(`<?${text}>; rel="${relation}"`)
  }
  return links.join(', ')
}

/** The links of a page of searched rows: the first page, and the page after the last row examined. */
function searchedLinks(query: Query, lastId: string | undefined, repeated: Repeated): string {
  const pairs = selectRepeated(query, repeated).filter(([name]) => name !== 'page')
  const first = pairs.filter(([name]) => name !== 'after')
  const next = lastId === undefined ? '' : `, <?${formatNextQuery(pairs, lastId)}>; rel="next"`
  return `<?${[...first, ['page', '1'] as const].map(pairText).join('&')}>; rel="first"${next}`
}

/** The query of the page after a row. */
const formatNextQuery = (pairs: Query, lastId: string): string =>
  [...pairs.filter(([name]) => name !== 'page' && name !== 'after'), ['after', lastId] as const].map(pairText).join('&')

/** All parameters that the action reads, and those of the others that are short enough and contain no key. */
function selectRepeated(query: Query, { taken, secrets }: Repeated): Query {
  let letters = 0
  return query.filter(pair => {
    if (pair[0] === 'page' || taken.has(pair[0])) return true
    if (!mayRepeat(pair, secrets)) return false
    letters += pairText(pair).length + 1
    return letters <= ALL_UNREAD_LETTERS
  })
}

/** The test is faster than encoding: most texts need no escapes. */
function pairText([name, value]: Query[number]): string {
  const text = `${name}=${value}`
  return /^[\w.-]*=[\w.-]*$/.test(text) ? text : `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
}

/**
 * Parameters that the action reads have been validated. Any other (cache busters, or anything with
 * compat=iostabc) may contain a key.
 */
function mayRepeat([name, value]: Query[number], secrets: readonly string[]): boolean {
  const text = `?${name}=${value}`
  if (text.length > UNREAD_LETTERS) return false
  const hidesKey = removeSecrets(text) !== text || secrets.some(key => key !== '' && text.includes(key))
  return !hidesKey
}

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
