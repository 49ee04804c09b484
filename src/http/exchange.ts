import { languageFor, OPTION_VALUES, type OptionDefaults } from '#actions/request/options.ts'
import type { Query } from '#actions/request/query.ts'
import { Failure } from '#failure/failure.ts'
import type { Log } from '#failure/log.ts'
import { Busy } from '#gate/queue.ts'
import type { Clock } from '#time/clock.ts'
import { Away } from './away.ts'
import { countAnswer, type HttpCounts, type Named } from './counts.ts'
import { ClientGone, startDeadline } from './deadline.ts'
import { failureOf, failureReply, type Manner } from './envelope.ts'
import { pausedFeed } from './paused-feed.ts'
import { MAX_QUERY_BYTES, parseQuery, type QueryText } from './query-text.ts'
import { bytesIn, isStreamed, type Reply, responseOf, textReply } from './reply.ts'
import type { Stopping } from './stopping.ts'
import { pathBehind, targetOf } from './target.ts'

/** A request that is being answered. */
export type Exchange = QueryText & {
  readonly request: Request
  /** Behind the prefix that the service stands at. */
  readonly path: string
  /** Names the request in answers and logs. */
  readonly id: string
  readonly manner: Manner
  /** Headers of the answer, success or failure, that were known before it. */
  readonly headers: Record<string, string>
  readonly named: Named
}

/** Gives the reply to a request; what it throws is the reply, too. */
export type Handler = (exchange: Exchange, signal: AbortSignal) => Promise<Reply>

export type Answering = {
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
  /** The address of the client; undefined: it has none, or is not asked over a socket. */
  readonly addressOf: (request: Request) => string | undefined
  /** How failures are written; absent, or undefined for a failure: in the form of the API. */
  readonly written?: (exchange: Exchange, failure: Failure) => Promise<Reply | undefined>
}

/** nginx's status for a client that closed the connection; it appears only in the log. */
const GONE_STATUS = 499

/**
 * Makes a function from Request to Response out of a handler: deadline, failures in the caller's language and form,
 * common headers, one line in the access log. It never throws.
 */
export const answering =
  (route: string, handler: Handler, { deadlineMs, written, ...ours }: Answering) =>
  async (request: Request): Promise<Response> => {
    const started = ours.clock.elapsed()
    const exchange = exchangeOf(request, ours)
    // Of a connection that is closed by the end of the answer nobody knows the address any more.
    const client = ours.addressOf(request)
    const done = (kind: string, reply: Reply, reason?: string): Response =>
      responseTo(exchange, reply, { ...ours, route, kind, reason, started, client })
    const deadline = startDeadline({
      ms: deadlineMs,
      client: request.signal,
      running: ours.stopping?.running,
    })
    try {
      checkLength(request.url)
      const reply = await Promise.race([handler(exchange, deadline.signal), deadline.over])
      return done('ok', { ...reply, headers: { ...exchange.headers, ...reply.headers } })
    } catch (error) {
      if (error instanceof ClientGone)
        return done('gone', textReply(GONE_STATUS, { type: 'text/plain', text: '' }))
      const failure = failureOf(error)
      // A refusal for lack of room needs no second log line.
      if (!(failure instanceof Busy)) logCause(ours.log, failure, exchange.id)
      return done(
        failure.kind,
        (await written?.(exchange, failure)) ?? failed(exchange, failure),
        reasonOf(failure),
      )
    } finally {
      deadline.end()
    }
  }

/**
 * Answers, within the call, what `why` refuses: a service that is overrun has most of its work with those it turns away.
 * undefined: nothing is refused, and nothing was logged.
 */
export const refusing =
  (route: string, why: (exchange: Exchange) => Busy | undefined, ours: Omit<Answering, 'deadlineMs'>) =>
  (request: Request): Response | undefined => {
    const started = ours.clock.elapsed()
    const exchange = exchangeOf(request, ours)
    const failure = why(exchange)
    if (failure === undefined) return undefined
    const { kind } = failure
    const reason = reasonOf(failure)
    const client = ours.addressOf(request)
    return responseTo(exchange, failed(exchange, failure), { ...ours, route, kind, reason, started, client })
  }

/** By what name a refusal is counted. */
const reasonOf = (failure: Failure): string => (failure instanceof Busy ? 'busy' : failure.kind)

const failed = (exchange: Exchange, failure: Failure): Reply => {
  const { manner, id, headers } = exchange
  const paused = failure instanceof Away ? pausedFeed(exchange, failure) : undefined
  const reply = paused ?? failureReply(failure, manner, id)
  return { ...reply, headers: { ...headers, ...reply.headers } }
}

type Logged = Pick<Answering, 'log' | 'counts' | 'clock' | 'isLogged' | 'stopping'> & {
  readonly route: string
  readonly kind: string
  /** By what name it is counted as refused; undefined: it is not. */
  readonly reason: string | undefined
  /** By this clock. */
  readonly started: number
  readonly client: string | undefined
}

/** The Response, with its line in the access log. */
const responseTo = (
  { request, id, named }: Exchange,
  reply: Reply,
  { log, route, kind, reason, started, clock, counts, isLogged, client, stopping }: Logged,
): Response => {
  const response = responseOf(reply, request, id)
  if (stopping?.signal.aborted === true) response.headers.set('Connection', 'close')
  const note = (kind: string, bytes: number, reason: string | undefined): void => {
    const ms = Math.round((clock.elapsed() - started) * 100) / 100
    const { status } = response
    countAnswer(counts, { route, named, status, ms, bytes, reason })
    if (kind === 'ok' && status < 400 && !isLogged()) return
    log(kind === 'defect' ? 'error' : 'info', 'Answered request.', {
      id,
      route,
      ...named,
      ...(client === undefined ? {} : { client }),
      kind,
      status,
      ms,
      bytes,
    })
  }
  const { body } = reply
  if (!isStreamed(body)) note(kind, bytesIn(body), reason)
  else
    void body.ended.then(({ kind, bytes, cause }) => {
      if (cause !== undefined) logCause(log, cause, id)
      note(kind, bytes, kind === 'ok' || kind === 'gone' ? undefined : kind)
    })
  return response
}

const exchangeOf = (
  request: Request,
  { defaults, basePath }: Pick<Answering, 'defaults' | 'basePath'>,
): Exchange => {
  const { path, query } = targetOf(request.url)
  // A request that is too long is refused in the language that its beginning asks for.
  const parsed = parseQuery(query.slice(0, MAX_QUERY_BYTES))
  const acceptLanguage = request.headers.get('accept-language') ?? undefined
  const header = request.headers.get('x-api-key')
  const lang = languageFor(parsed.query, acceptLanguage)
  return {
    ...parsed,
    request,
    path: pathBehind(basePath, path),
    id: newId(),
    manner: { lang, format: formatFor(parsed.query, defaults), secrets: [...parsed.keys, header ?? ''] },
    headers: {},
    named: {},
  }
}

/** 64 random bits: enough to find one request in a log. */
const newId = (): string => crypto.getRandomValues(new Uint8Array(8)).toHex()

/** The form of failures, also of those that `format` itself causes: the first usable one, else the server's. */
const formatFor = (query: Query, { format }: OptionDefaults): Manner['format'] => {
  const asked = query.find(([name]) => name === 'format')?.[1]
  return OPTION_VALUES.format.find(value => value === asked) ?? format
}

const checkLength = (url: string): void => {
  const { path, query } = targetOf(url)
  const length = Math.max(path.length, query.length)
  if (length > MAX_QUERY_BYTES)
    throw new Failure('uri_too_long', `The URL has ${length} bytes; the limit is ${MAX_QUERY_BYTES} bytes.`, {
      zh: `URL 长度为 ${length} 字节；上限为 ${MAX_QUERY_BYTES} 字节。`,
    })
}

/** Details that callers do not get are logged here, with the request's id. */
const logCause = (log: Log, failure: Failure, id: string): void => {
  const { kind, message, cause } = failure
  const inner = cause instanceof Error ? { cause: cause.stack ?? cause.message } : {}
  if (kind === 'defect' || kind === 'usage' || kind === 'conflict')
    log('error', 'A request failed because of a bug.', {
      id,
      kind,
      error: message,
      stack: failure.stack ?? '',
      ...inner,
    })
  else if (kind === 'damaged')
    log('error', 'A request met damage in the store.', { id, error: message, help: failure.help ?? '' })
  else if (kind === 'unavailable' || kind === 'bad_block' || kind === 'deadline')
    log('warn', 'A request could not be served.', { id, kind, error: message, ...inner })
}
