import { OPTION_VALUES, type OptionDefaults, selectLanguage } from '#actions/request/options.ts'
import { IGNORED } from '#actions/request/query.ts'
import { badRequest, shown } from '#actions/request/refusals.ts'
import type { Failure, Log } from '#failure/failure.ts'
import type { Clock } from '#time/clock.ts'
import type { Client, ClientAddresses } from './client-address.ts'
import type { AccessLogFields, HttpCounts } from './counts.ts'
import type { Deadline } from './deadline.ts'
import type { ReplyOptions } from './failure-reply.ts'
import type { Reply } from './reply.ts'
import { MAX_QUERY_BYTES, parseQuery, parseTarget, type QueryText, stripPrefix, tooLong } from './request-text.ts'
import type { Stopping } from './stopping.ts'

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
