import { type Outbox, openOutbox } from '#actions/feed/outbox.ts'
import type { Failure } from '#failure/failure.ts'
import { takeStreamPermit } from '#gate/queues.ts'
import type { Node } from '#node/port.ts'
import type { Published } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import type { HttpCounts } from '../counts.ts'
import type { Exchange, Handler } from '../exchange.ts'
import { createStream } from '../export/stream.ts'
import { failureFields } from '../failure-reply.ts'
import { FEED_TYPE, formatEvent } from '../feed/events.ts'
import type { OpenFeeds } from '../feed/open-feeds.ts'
import { findTroubles, measureFreshness } from '../health.ts'
import type { Reply } from '../reply.ts'
import { counted, type ExplorerGate } from './gate.ts'

/** Milliseconds before a browser reconnects. After a stop, all browsers reconnect at the same time. */
const RETRY_MS = 2_000

const BEGIN = `retry: ${RETRY_MS}\n\n`
const BEAT = ':\n\n'

const encoder = new TextEncoder()

type Following = {
  readonly feeds: OpenFeeds
  readonly node: Pick<Node, 'lastInfo' | 'reportAgeMs' | 'whyUnfit'> | undefined
  readonly maxLagMs: number | undefined
  readonly clock: Pick<Clock, 'after' | 'now'>
  readonly counts: Pick<HttpCounts, 'damageMet'>
  readonly stallMs: number
}

/**
 * `/live`: sends each published height to a page, so that the page refreshes only for new blocks. It also
 * sends the first fault that `/status` reports, in the language of the page, or null. No key is needed. The
 * number of open streams is limited per network and in total.
 */
export const liveHandler =
  (gate: ExplorerGate, following: Following): Handler =>
  async (exchange, signal) => {
    const key = counted(gate, exchange, 'refresh')
    signal.throwIfAborted()
    return liveReply(exchange, { ...following, permit: takeStreamPermit(gate.queues, 'live', key) })
  }

function liveReply(
  { request, replyOptions }: Exchange,
  { feeds, node, maxLagMs, clock, counts, stallMs, permit }: Following & { readonly permit: { leave(): void } },
): Reply {
  const outbox = openOutbox<string>()
  const end = (failure: Failure): void => outbox.end(formatEvent('end', failureFields(failure, replyOptions)))
  let remove: () => void = () => undefined
  let known: Published | undefined
  /** A store without new blocks becomes stale, so each heartbeat checks it again. */
  const statusEvent = (): string => {
    if (known === undefined) return BEAT
    const fresh = measureFreshness(known, node, clock)
    const isDamageMet = counts.damageMet.read() > 0
    const [trouble] = findTroubles({ fresh, isDamageMet, failure: undefined, isNodeSilent: false }, maxLagMs)
    return formatEvent('standing', { trouble: trouble?.what[replyOptions.lang] ?? null })
  }
  const leave = feeds.hub.watch({
    published: published => {
      known = published
      const { height } = published
      outbox.replace(`id: ${height}\ndata: ${height}\n\n${statusEvent()}`)
    },
    beat: () => outbox.beat(statusEvent()),
    end,
  })
  const free = (): void => {
    permit.leave()
    leave()
    remove()
    outbox.close()
  }
  const body = createStream(streamLivePieces(outbox), { client: request.signal, clock, stallMs, free })
  remove = feeds.add({ keyHash: undefined, end, cutOff: () => body.cutOff('stalled') })
  return { status: 200, type: FEED_TYPE, body, headers: HEADERS, form: 'raw' }
}

const HEADERS = {
  'Cache-Control': 'no-store',
  // Without this header, nginx would buffer events.
  'X-Accel-Buffering': 'no',
}

const streamLivePieces = async function* (outbox: Outbox<string>): AsyncGenerator<Uint8Array, void, void> {
  yield encoder.encode(BEGIN)
  for await (const text of outbox.items()) yield encoder.encode(text)
}
