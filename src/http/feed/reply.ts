import type { AnswerDeps, ApiCall } from '#actions/answer.ts'
import type { Feed } from '#actions/feed/feed.ts'
import {
  type FeedEnd,
  type HeadNow,
  type LastId,
  type LastRow,
  type Message,
  readId,
  readLastRow,
} from '#actions/feed/message.ts'
import { openFeed } from '#actions/feed/open-feed.ts'
import { openOutbox } from '#actions/feed/outbox.ts'
import { ROWS_AT_ONCE } from '#actions/find/listing.ts'
import { findSingleValue } from '#actions/request/query.ts'
import { badRequest, quoteGiven } from '#actions/request/refusals.ts'
import { writeJson } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import { Failure, Restarting } from '#failure/failure.ts'
import { type CallerPermits, getRequestKey, retryPermit } from '#gate/gate.ts'
import { hashOfKey } from '#keys/keyring.ts'
import { joinSignals } from '#time/deadline.ts'
import { headHeaders } from '../api.ts'
import { codes } from '../codes.ts'
import type { Exchange, QueryText } from '../exchange.ts'
import { createStream, splitPieces } from '../export/stream.ts'
import { failureFields, type Reply, type ReplyOptions, textReply } from '../reply.ts'
import type { OpenFeeds } from './open-feeds.ts'

/**
 * Names of the header in a query. `event-source-polyfill` adds the first by itself, and a browser's `EventSource` has
 * no other way to begin after an event.
 */
const NAMES: readonly string[] = ['lastEventId', 'Last-Event-ID']

type Asked = Pick<QueryText, 'query'> & { readonly request: Request }

/** Whether a client reconnects: it sends the id of an event. */
const isReconnection = ({ query, request }: Asked): boolean =>
  (request.headers.get('last-event-id') ?? '') !== '' ||
  query.some(([name, value]) => NAMES.includes(name) && value !== '')

/**
 * The id of the last event that a reconnecting client received; undefined: none. The header is later than the query: a
 * browser repeats the query of the first connection. Throws 'bad_request', also for a name given twice.
 */
function readLastId({ query, request }: Asked): LastId | LastRow | undefined {
  const given = NAMES.map(name => findSingleValue(query, name))
  const text = request.headers.get('last-event-id') || given.find(value => value !== undefined && value !== '')
  if (text === undefined) return undefined
  const id = readId(text) ?? readLastRow(text)
  if (id !== undefined) return id
  throw badRequest(
    {
      en: `Last-Event-ID is ${quoteGiven(text)}; it must be the id of an event: a whole number of at most 15 digits, or the whole id as the feed gave it.`,
      zh: `Last-Event-ID 的值为 ${quoteGiven(text)}；应为事件的 id：不超过 15 位的非负整数，或事件流给出的完整 id。`,
    },
    { parameter: 'Last-Event-ID' },
  )
}

/** The media type of server-sent events (html.spec.whatwg.org, "Server-sent events"). */
export const FEED_TYPE = 'text/event-stream; charset=utf-8'

/** Milliseconds before a client reconnects. A stop ends all feeds at once, so each has a time of its own. */
const RETRY_MS = 1_000
const SPREAD_MS = 2_000
/** The same for a client that was not served. More of them come than the plan of a key serves in a second. */
const LONG_SPREAD_MS = 9_000
/** The longest wait, seconds, however much of the day is left: a client that waits longer seems to be broken. */
const LONGEST_SECONDS = 60

const retryText = (leastMs: number, spreadMs: number): string =>
  `retry: ${Math.round(leastMs + Math.random() * spreadMs)}\n`

/**
 * The answer to a request for events that cannot be served now: a stream that ends at once. An `EventSource` reconnects
 * after it with its last id, but stops for good after a status other than 200. While the service starts or stops, every
 * request for events gets it; later, those that continue a feed. undefined: the failure is the answer.
 */
export function pausedFeed(
  exchange: Asked & { readonly replyOptions: ReplyOptions },
  failure: Failure,
): Reply | undefined {
  const { query, request, replyOptions } = exchange
  const isFeed =
    query.some(([name, value]) => name === 'format' && value === 'sse') ||
    request.headers.get('accept')?.includes('text/event-stream') === true
  if (!isFeed) return undefined
  const isRestart = failure instanceof Restarting
  const code = codes[failure.kind]
  // The same request may succeed later.
  const isPassing = failure.kind === 'rate_limited' || code.status >= 500
  if (!isRestart && !(isPassing && isReconnection(exchange))) return undefined
  const { message } = failureFields(failure, replyOptions)
  const { retryAfter = code.retryAfter ?? 1 } = failure.details
  const seconds = Math.min(LONGEST_SECONDS, Number(retryAfter))
  const retry = isRestart ? retryText(RETRY_MS, SPREAD_MS) : retryText(seconds * 1_000, LONG_SPREAD_MS)
  const text = `${retry}: ${message.replaceAll(/\s+/g, ' ')}\n\n`
  return textReply(200, { type: FEED_TYPE, text }, { headers: { 'Cache-Control': 'no-store' } })
}

/** A comment with the published height, and with the head's height, or its status when that height is unknown. */
const standText = (height: number, head: HeadNow | undefined): string =>
  `: block ${height}${head === undefined ? '' : `, head ${head.height ?? head.status}`}`

/** The position of a client: its last irreversible row, and the id of its last event. */
type Sent = { readonly seq: number | undefined; readonly id: string }

const getFirstSent = ({ first, id = '' }: Feed): Sent =>
  first === undefined ? { seq: undefined, id } : { seq: first - 1, id: id || String(first - 1) }

/** The last event of a feed. */
function endEvent(end: FeedEnd, { seq, id }: Sent, options: ReplyOptions): string {
  const { lang } = options
  switch (end.kind) {
    case 'cut': {
      const message = {
        en: `Rows came faster than they were read. Continue with Last-Event-ID ${id}.`,
        zh: `读取速度跟不上新记录。请以 Last-Event-ID ${id} 继续。`,
      }
      return formatEvent('cut', { seq, message: message[lang] })
    }
    case 'reset': {
      const { seq: last, height } = end
      const message = {
        en: `Blocks were taken back by a repair. Discard the rows after ${last === undefined ? 'block' : 'seq'} ${last ?? height}, and continue with Last-Event-ID ${end.id}.`,
        zh: `部分区块已在修复中撤回。请丢弃${last === undefined ? '区块' : ' seq'} ${last ?? height} 之后的记录，并以 Last-Event-ID ${end.id} 继续。`,
      }
      const data = { seq: last, block_height: String(height), message: message[lang] }
      return `id: ${end.id}\n${formatEvent('reset', data)}`
    }
    case 'end':
      return formatEvent('end', { seq, ...failureFields(end.failure, options) })
  }
}

/** A named event, with data as JSON. */
export const formatEvent = (name: string, data: Readonly<Record<string, unknown>>): string =>
  `event: ${name}\ndata: ${writeJson(data)}\n\n`

/** Maximum bytes that wait for one reader. All readers of a list share the buffered rows. */
const MAX_BYTES = 256 * 1024

type FeedRequest = {
  readonly exchange: Exchange
  /** Aborts at the deadline, which holds until the feed is open. */
  readonly signal: AbortSignal
  readonly permits: CallerPermits
  readonly stallMs: number
  readonly feeds: OpenFeeds
}

/**
 * The rows of a list as events, until the client disconnects or the feed has to end. Its resources are released when
 * the body ends, for any reason. Throws like `openFeed`, and 'rate_limited' or 'unavailable' when there is no permit.
 */
export async function feedReply(
  deps: AnswerDeps,
  call: ApiCall,
  { exchange, signal, permits, stallMs, feeds }: FeedRequest,
): Promise<Reply> {
  const { request, replyOptions } = exchange
  const permit = permits.feed()
  const reading = joinSignals(signal)
  const limits = { mostBytes: MAX_BYTES, full: { kind: 'cut' } } as const
  const outbox = openOutbox<Message>(limits, () => reading.abort(undefined))
  let remove: () => void = () => undefined
  const free = (): void => {
    permit.leave()
    remove()
    outbox.close()
    reading.abort(undefined)
  }
  try {
    signal.throwIfAborted()
    let isOpen = false
    const waiting = { clock: deps.clock, signal: reading.signal }
    const acquire = retryPermit(permits.store(reading.signal), () => isOpen, waiting)
    const { hub } = feeds
    const query = call.query.filter(([name]) => !NAMES.includes(name))
    const asked = { ...call, query, last: readLastId(exchange) }
    const more = () => permits.plan.more(reading.signal)
    const end = (failure: Failure): void => outbox.end({ kind: 'end', failure })
    const feed = await openFeed(deps, asked, { signal: reading.signal, acquire, more, hub, outbox })
    isOpen = true
    signal.throwIfAborted()
    const body = createStream(streamFeedBody(feed, { more, end, replyOptions, signal: reading.signal }), {
      client: request.signal,
      clock: deps.clock,
      stallMs,
      free,
    })
    remove = feeds.add({
      keyHash: hashOfKey(getRequestKey(exchange)),
      end,
      cutOff: () => body.cutOff('stalled'),
    })
    return { status: 200, type: FEED_TYPE, body, headers: buildFeedHeaders(feed), form: 'raw' }
  } catch (error) {
    free()
    throw error
  } finally {
    reading.release()
  }
}

const buildFeedHeaders = ({ at, head }: Feed): Readonly<Record<string, string>> => ({
  'Cache-Control': 'private, no-store',
  Vary: 'X-API-Key',
  'X-Block-Height': String(at.height),
  'X-Block-Time': toIso(at.time),
  ...(head && headHeaders(head)),
  // Without this header, nginx would buffer events.
  'X-Accel-Buffering': 'no',
})

/** The body. Each thousand rows begun count as one request; those of a search were counted when they were tested. */
const streamFeedBody = async function* (
  feed: Feed,
  {
    more,
    end,
    replyOptions,
    signal,
  }: {
    readonly more: () => Promise<void>
    readonly end: (failure: Failure) => void
    readonly replyOptions: ReplyOptions
    readonly signal: AbortSignal
  },
): AsyncGenerator<Uint8Array, void, void> {
  const { id, at } = feed
  let sent = getFirstSent(feed)
  let room = ROWS_AT_ONCE
  /** Counts rows under the plan, whose refusal ends the feed. false: the feed has ended. */
  const tryCounting = async (rows: number): Promise<boolean> => {
    room -= rows
    try {
      for (; room < 0; room += ROWS_AT_ONCE) await more()
      return true
    } catch (error) {
      if (error instanceof Failure) end(error)
      else if (!signal.aborted) throw error
      return false
    }
  }
  // The beginning is sent at once: an event with the id from which a client that reconnects before its first row
  // continues. It has data, because some clients drop an id without data. No id: the client requested rows from a later
  // number.
  const begin = id === undefined ? '\n' : `id: ${id}\n${formatEvent('begin', { block_height: String(at.height) })}`
  yield encoder.encode(`${retryText(RETRY_MS, SPREAD_MS)}${standText(at.height, feed.head)}\n${begin}`)
  for await (const message of feed.messages()) {
    switch (message.kind) {
      case 'rows':
        // Otherwise the last message of the outbox follows.
        if (!(await tryCounting(message.count))) continue
        yield* splitPieces(message.bytes)
        sent = { seq: message.last ?? sent.seq, id: message.id }
        break
      case 'beat':
        yield encoder.encode(`${standText(message.height, message.head)}\n\n`)
        break
      case 'cut':
      case 'reset':
      case 'end':
        yield encoder.encode(endEvent(message, sent, replyOptions))
    }
  }
}

const encoder = new TextEncoder()
