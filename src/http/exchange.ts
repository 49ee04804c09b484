import { OPTION_VALUES, type OptionDefaults, selectLanguage } from '#actions/request/options.ts'
import { IGNORED, type Query } from '#actions/request/query.ts'
import { badRequest, shown } from '#actions/request/refusals.ts'
import { Failure, type Log } from '#failure/failure.ts'
import type { Clock } from '#time/clock.ts'
import type { Client, ClientAddresses } from './client-address.ts'
import type { AccessLogFields, HttpCounts } from './counts.ts'
import type { Deadline } from './deadline.ts'
import type { Reply, ReplyOptions } from './reply.ts'
import type { Stopping } from './stopping.ts'

/** Path and query of a request, undecoded. */
type Target = {
  readonly path: string
  /** Text after the `?`, without it; `""` when there is none. */
  readonly query: string
}

/**
 * Splits a request's URL without a parser. When the Host header is missing or invalid, Bun passes a URL that
 * parsers reject (`/api/` alone, `http://[::1/api/`), and such a request has a path all the same.
 */
export function parseTarget(url: string): Target {
  const rest = url.replace(/^https?:\/\/[^/?#]*/i, '')
  const [whole = ''] = rest.split('#', 1)
  const mark = whole.indexOf('?')
  const path = mark === -1 ? whole : whole.slice(0, mark)
  return { path: path === '' ? '/' : path, query: mark === -1 ? '' : whole.slice(mark + 1) }
}

/**
 * The path without the prefix of the service; `""` is the prefix itself, without a trailing slash. A path
 * without the prefix is returned unchanged: no route has it.
 */
const stripPrefix = (prefix: string, path: string): string =>
  path === prefix || path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path

/**
 * Whether Elysia finds the path in this URL. It searches for the first `/` from character 11 on, so a host of
 * fewer than 4 characters hides the path (`http://a/api/`).
 */
export const isRoutable = (url: string): boolean => /^https?:\/\/[^/?#]{4}/.test(url)

/** Maximum number of parameters, more than any call needs. */
export const MAX_PARAMETERS = 64
/** Maximum bytes of a query. Bun itself answers 431 when all headers together exceed 16 KiB. */
const MAX_QUERY_BYTES = 8_192

/** The refusal of a URL that is too long; undefined: its length is allowed. */
function tooLong(path: string, query: string): Failure | undefined {
  const length = Math.max(path.length, query.length)
  if (length <= MAX_QUERY_BYTES) return undefined
  return new Failure('uri_too_long', `The URL has ${length} bytes; the limit is ${MAX_QUERY_BYTES} bytes.`, {
    zh: `URL 长度为 ${length} 字节；上限为 ${MAX_QUERY_BYTES} 字节。`,
  })
}

export type QueryText = {
  /** The parameters in order, decoded, without `apikey`. */
  readonly query: Query
  /** Values of `apikey`, in order. */
  readonly keys: readonly string[]
  /** The syntax error of the query. It is thrown only after the key was accepted, so that a stranger learns nothing. */
  readonly fault: Failure | undefined
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Parses the raw text of a query: pairs separated by `&`, `+` is a space, percent escapes must be complete
 * and their bytes UTF-8. No input is dropped: text that a lenient parser would accept unchanged is a fault
 * that names the parameter.
 */
export function parseQuery(text: string): QueryText {
  const query: [string, string][] = []
  const keys: string[] = []
  let fault: Failure | undefined
  const pieces = text.split('&').filter(piece => piece !== '')
  if (pieces.length > MAX_PARAMETERS) fault = tooMany(pieces.length)
  for (const piece of pieces) {
    const { name, value } = parsePair(piece)
    if (name === undefined) fault ??= badName(piece.split('=', 1)[0] ?? '')
    else if (name === '') fault ??= noName()
    else if (name === 'apikey') keys.push(value ?? '')
    else if (value === undefined) fault ??= badValue(name)
    else query.push([name, value])
  }
  return { query, keys, fault }
}

/** Name and value of a pair; undefined: it cannot be decoded. The value is "" without a `=`. */
function parsePair(piece: string) {
  const mark = piece.indexOf('=')
  const name = mark === -1 ? piece : piece.slice(0, mark)
  const value = mark === -1 ? '' : piece.slice(mark + 1)
  return /[+%]/.test(piece) ? { name: decoded(name), value: decoded(value) } : { name, value }
}

/** Decodes a text; undefined: a broken escape, or bytes that are not UTF-8. */
function decoded(text: string): string | undefined {
  const spaced = text.replaceAll('+', ' ')
  if (!spaced.includes('%')) return spaced
  if (/%(?![0-9A-Fa-f]{2})/.test(spaced)) return undefined
  const bytes: number[] = []
  for (const part of spaced.split(/(%[0-9A-Fa-f]{2})/))
    if (part.startsWith('%')) bytes.push(Number.parseInt(part.slice(1), 16))
    else bytes.push(...new TextEncoder().encode(part))
  try {
    return decoder.decode(Uint8Array.from(bytes))
  } catch {
    return undefined
  }
}

const RULE = {
  en: 'each % must be followed by two hexadecimal digits, and the bytes must be UTF-8',
  zh: '每个 % 后必须是两位十六进制数字，且字节必须是 UTF-8',
}

const badValue = (name: string): Failure =>
  badRequest(
    {
      en: `Parameter ${shown(name)} is not encoded correctly: ${RULE.en}.`,
      zh: `参数 ${shown(name)} 的编码不正确：${RULE.zh}。`,
    },
    { parameter: name },
  )

const badName = (raw: string): Failure =>
  badRequest({
    en: `Parameter name ${shown(raw)} is not encoded correctly: ${RULE.en}.`,
    zh: `参数名 ${shown(raw)} 的编码不正确：${RULE.zh}。`,
  })

const noName = (): Failure =>
  badRequest({ en: 'A parameter has no name before the =.', zh: '有一个参数缺少名称（= 之前为空）。' })

const tooMany = (count: number): Failure =>
  badRequest({
    en: `The query has ${count} parameters; the limit is ${MAX_PARAMETERS}.`,
    zh: `查询字符串中有 ${count} 个参数；上限为 ${MAX_PARAMETERS} 个。`,
  })

/** A request that is being answered. */
export type Exchange = QueryText & {
  readonly request: Request
  /** The route's name in the log and the counts. */
  readonly route: string
  /** The path without the prefix of the service. */
  readonly path: string
  /** Identifies the request in answers and logs. */
  readonly id: string
  /** undefined: the client is unknown, since the request came over no socket. */
  readonly client: Client | undefined
  readonly replyOptions: ReplyOptions
  /** Headers of the answer, success or failure, that were set before the handler's. */
  readonly headers: Record<string, string>
  readonly logFields: AccessLogFields
  /** Time of arrival, by the clock of the service. */
  readonly started: number
  /** The reason for which the request is refused unread. */
  readonly refusal: Failure | undefined
}

/** Makes the reply to a request; a thrown failure is the reply, too. `prolong` extends the deadline. */
export type Handler = (exchange: Exchange, signal: AbortSignal, prolong: Deadline['prolong']) => Promise<Reply>

/** The settings that all requests of a service share. */
export type Service = {
  readonly log: Log
  readonly defaults: OptionDefaults
  /** Path prefix of the service, such as `/iost`; `""`: none. */
  readonly basePath: string
  readonly deadlineMs: number
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  readonly counts: HttpCounts
  /** Absent: the service never stops. */
  readonly stopping?: Stopping | undefined
  /** Whether the next success is logged in the access log. */
  readonly isLogged: () => boolean
  readonly clientOf: (request: Request) => Client | undefined
  /** The connections of requests; absent: there are none. */
  readonly connections?: Pick<ClientAddresses, 'limitIdle' | 'isOpen'>
  /** Writes a failure; absent, or undefined for a failure: in the form of the API. */
  readonly writeFailure?: (exchange: Exchange, failure: Failure) => Promise<Reply | undefined>
}

/** Parses a request. Faults are stored in `refusal` and `fault`, and thrown by the step responsible for them. */
export function parse(
  request: Request,
  route: string,
  { defaults, basePath, clock, clientOf }: Pick<Service, 'defaults' | 'basePath' | 'clock' | 'clientOf'>,
): Exchange {
  const started = clock.elapsed()
  const { path, query } = parseTarget(request.url)
  // A request that is too long is refused in the language that the first part of its query names.
  const parsed = parseQuery(query.slice(0, MAX_QUERY_BYTES))
  const acceptLanguage = request.headers.get('accept-language') ?? undefined
  const header = request.headers.get('x-api-key')
  const requested = parsed.query.find(([name]) => name === 'format')?.[1]
  const lang = selectLanguage(parsed.query, acceptLanguage)
  return {
    ...parsed,
    request,
    route,
    path: stripPrefix(basePath, path),
    // 64 random bits: enough to identify a request in a log.
    id: crypto.getRandomValues(new Uint8Array(8)).toHex(),
    // Read now: the address is unknown once the connection is closed.
    client: clientOf(request),
    replyOptions: {
      lang,
      // Failures have the requested format, or the default when it is not a valid one.
      format: OPTION_VALUES.format.find(value => value === requested) ?? defaults.format,
      secrets: [...parsed.keys, header ?? ''],
    },
    headers: {},
    logFields: {},
    started,
    refusal: tooLong(path, query),
  }
}

const OPTIONS = Object.keys(OPTION_VALUES)

/** For paths without parameters of their own: refuses all parameters except the options of every call. */
export function refuseParameters({ query }: Pick<Exchange, 'query'>, path: string): void {
  const names = ['apikey', ...OPTIONS]
  for (const [name] of query)
    if (!OPTIONS.includes(name) && !IGNORED.includes(name))
      throw badRequest({
        en: `Unknown parameter ${shown(name)}; ${path} takes ${names.join(', ')}.`,
        zh: `未知参数 ${shown(name)}；${path} 的参数为 ${names.join('、')}。`,
      })
}
