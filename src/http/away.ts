import type { Exchange } from './exchange.ts'
import { FEED_TYPE, pauseText } from './feed/events.ts'
import { type Reply, textReply } from './reply.ts'
import { Told } from './told.ts'

/** The service starts or stops: the same request is answered soon, here or by another process. */
export class Away extends Told {}

/**
 * The answer to one who asks for events while the service is away: a stream that ends at once. An `EventSource` connects
 * again after it with the id that it has, but gives up for ever on a status that is not 200. undefined: no events are asked for.
 */
export const pausedFeed = (
  { request, query, manner }: Pick<Exchange, 'request' | 'query' | 'manner'>,
  { message, zh = message }: Away,
): Reply | undefined => {
  const isFeed =
    query.some(([name, value]) => name === 'format' && value === 'sse') ||
    request.headers.get('accept')?.includes('text/event-stream') === true
  if (!isFeed) return undefined
  const text = pauseText(manner.lang === 'zh' ? zh : message)
  return textReply(200, { type: FEED_TYPE, text }, { headers: { 'Cache-Control': 'no-store' } })
}
