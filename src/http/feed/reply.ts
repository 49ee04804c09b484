import type { AcquirePermit, AnswerDeps, ApiCall } from '#actions/answer.ts'
import type { Feed } from '#actions/feed/feed.ts'
import type { Message } from '#actions/feed/message.ts'
import { openFeed } from '#actions/feed/open-feed.ts'
import { openOutbox } from '#actions/feed/outbox.ts'
import { ROWS_AT_ONCE } from '#actions/find/listing.ts'
import { toIso } from '#chain/time.ts'
import { Failure } from '#failure/failure.ts'
import { type CallerPermits, getRequestKey, retryPermit } from '#gate/gate.ts'
import { hashOfKey } from '#keys/keyring.ts'
import { joinSignals } from '#time/deadline.ts'
import { headHeaders } from '../api.ts'
import type { Exchange } from '../exchange.ts'
import { createStream, inPieces } from '../export/stream.ts'
import type { ReplyOptions } from '../failure-reply.ts'
import type { Reply } from '../reply.ts'
import { beatText, beginText, endEvent, FEED_TYPE, omitLastId, readLastId, type Sent } from './events.ts'
import type { OpenFeeds } from './open-feeds.ts'

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
    const own = permits.store(reading.signal)
    const later = retryPermit(own, deps.clock, reading.signal)
    let isOpen = false
    const acquire: AcquirePermit = () => (isOpen ? later : own)()
    const { hub } = feeds
    const asked = { ...call, query: omitLastId(call.query), last: readLastId(exchange) }
    const more = () => permits.plan.more(reading.signal)
    const feed = await openFeed(deps, asked, { signal: reading.signal, acquire, more, hub, outbox })
    isOpen = true
    signal.throwIfAborted()
    const body = createStream(streamFeedBody(feed, { more, replyOptions, signal: reading.signal }), {
      client: request.signal,
      clock: deps.clock,
      stallMs,
      free,
    })
    remove = feeds.add({
      keyHash: hashOfKey(getRequestKey(exchange)),
      end: failure => outbox.end({ kind: 'end', failure }),
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

const getFirstSent = ({ first, id = '' }: Feed): Sent =>
  first === undefined ? { seq: undefined, id } : { seq: first - 1, id: id === '' ? String(first - 1) : id }

type FeedService = {
  readonly more: () => Promise<void>
  readonly replyOptions: ReplyOptions
  /** Aborted when the feed is over. */
  readonly signal: AbortSignal
}

/** Counts further rows under the plan. Returns its refusal; 'over': the feed ended meanwhile. Throws any other error. */
async function tryCounting(more: () => Promise<void>, signal: AbortSignal): Promise<Failure | 'over' | undefined> {
  try {
    await more()
    return undefined
  } catch (error) {
    if (error instanceof Failure) return error
    if (signal.aborted) return 'over'
    throw error
  }
}

/** The body. Each thousand rows begun count as one request; those of a search were counted when they were tested. */
const streamFeedBody = async function* (
  feed: Feed,
  { more, replyOptions, signal }: FeedService,
): AsyncGenerator<Uint8Array, void, void> {
  let sent: Sent = getFirstSent(feed)
  let room = ROWS_AT_ONCE
  let refusal: Failure | 'over' | undefined
  yield encoder.encode(beginText({ height: feed.at.height, head: feed.head }, feed.id))
  for await (const message of feed.messages()) {
    switch (message.kind) {
      case 'rows':
        room -= message.count
        for (; room < 0 && refusal === undefined; room += ROWS_AT_ONCE) refusal = await tryCounting(more, signal)
        // The last message of the outbox follows.
        if (refusal === 'over') continue
        if (refusal !== undefined) {
          yield encoder.encode(endEvent({ kind: 'end', failure: refusal }, sent, replyOptions))
          return
        }
        yield* inPieces(message.bytes)
        sent = { seq: message.last ?? sent.seq, id: message.id }
        break
      case 'beat':
        yield encoder.encode(beatText(message.height, message.head))
        break
      case 'cut':
      case 'reset':
      case 'end':
        yield encoder.encode(endEvent(message, sent, replyOptions))
    }
  }
}

const encoder = new TextEncoder()
