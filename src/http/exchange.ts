import { languageFor, OPTION_VALUES, type OptionDefaults } from '#actions/request/options.ts'
import type { Query } from '#actions/request/query.ts'
import type { Failure } from '#failure/failure.ts'
import type { Log } from '#failure/log.ts'
import type { Clock } from '#time/clock.ts'
import type { Client } from './client-address.ts'
import type { HttpCounts, Named } from './counts.ts'
import type { Deadline } from './deadline.ts'
import type { Manner } from './failure-reply.ts'
import type { Reply } from './reply.ts'
import { MAX_QUERY_BYTES, parseQuery, pathBehind, type QueryText, targetOf, tooLong } from './request-text.ts'
import type { Stopping } from './stopping.ts'

/** A request that is being answered. */
export type Exchange = QueryText & {
  readonly request: Request
  /** Its name in the log and the counts. */
  readonly route: string
  /** Behind the prefix that the service stands at. */
  readonly path: string
  /** Names the request in answers and logs. */
  readonly id: string
  /** undefined: it is unknown, as of a request that came over no socket. */
  readonly client: Client | undefined
  readonly manner: Manner
  /** Headers of the answer, success or failure, that were known before it. */
  readonly headers: Record<string, string>
  readonly named: Named
  /** When it came, by the clock of the service. */
  readonly started: number
  /** Why nothing of it is read at all. */
  readonly refusal: Failure | undefined
}

/** Gives the reply to a request; what it throws is the reply, too. `prolong` gives it time beyond its deadline. */
export type Handler = (
  exchange: Exchange,
  signal: AbortSignal,
  prolong: Deadline['prolong'],
) => Promise<Reply>

/** What all requests of a service have in common. */
export type Service = {
  readonly log: Log
  readonly defaults: OptionDefaults
  /** Path prefix of the service, such as `/iost`; `""`: none. */
  readonly basePath: string
  readonly deadlineMs: number
  readonly clock: Pick<Clock, 'elapsed'>
  readonly counts: HttpCounts
  /** Absent: the service never stops. */
  readonly stopping?: Stopping | undefined
  /** Whether the next success has a line in the access log. */
  readonly isLogged: () => boolean
  readonly clientOf: (request: Request) => Client | undefined
  /** Lets a connection stay open though nothing moves on it until the answer of a request is there; absent: it has none. */
  readonly keepOpen?: (request: Request) => void
  /** How failures are written; absent, or undefined for a failure: in the form of the API. */
  readonly writeFailure?: (exchange: Exchange, failure: Failure) => Promise<Reply | undefined>
}

/** Reads what a request says. What is wrong with it stands in `refusal` and `fault`, and is thrown by the step that owns it. */
export const parse = (
  request: Request,
  route: string,
  { defaults, basePath, clock, clientOf }: Pick<Service, 'defaults' | 'basePath' | 'clock' | 'clientOf'>,
): Exchange => {
  const started = clock.elapsed()
  const { path, query } = targetOf(request.url)
  // A request that is too long is refused in the language that its beginning asks for.
  const parsed = parseQuery(query.slice(0, MAX_QUERY_BYTES))
  const acceptLanguage = request.headers.get('accept-language') ?? undefined
  const header = request.headers.get('x-api-key')
  const lang = languageFor(parsed.query, acceptLanguage)
  return {
    ...parsed,
    request,
    route,
    path: pathBehind(basePath, path),
    id: newId(),
    // Read now: once a connection is closed, its address is not known any more.
    client: clientOf(request),
    manner: { lang, format: formatFor(parsed.query, defaults), secrets: [...parsed.keys, header ?? ''] },
    headers: {},
    named: {},
    started,
    refusal: tooLong(path, query),
  }
}

/** 64 random bits: enough to find one request in a log. */
const newId = (): string => crypto.getRandomValues(new Uint8Array(8)).toHex()

/** The form of failures, also of those that `format` itself causes: the first usable one, else the server's. */
const formatFor = (query: Query, { format }: OptionDefaults): Manner['format'] => {
  const asked = query.find(([name]) => name === 'format')?.[1]
  return OPTION_VALUES.format.find(value => value === asked) ?? format
}
