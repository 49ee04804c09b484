import type { Restarting } from '#failure/failure.ts'
import type { Manner } from './failure-reply.ts'
import { FEED_TYPE, pauseText } from './feed/events.ts'
import { type Reply, textReply } from './reply.ts'
import type { QueryText } from './request-text.ts'

/**
 * The answer to one who asks for events while the service is away: a stream that ends at once. An `EventSource` connects
 * again after it with the id that it has, but gives up for ever on a status that is not 200. undefined: no events are asked for.
 */
export const pausedFeed = (
  {
    request,
    query,
    manner,
  }: Pick<QueryText, 'query'> & { readonly request: Request; readonly manner: Manner },
  { message, zh = message }: Restarting,
): Reply | undefined => {
  const isFeed =
    query.some(([name, value]) => name === 'format' && value === 'sse') ||
    request.headers.get('accept')?.includes('text/event-stream') === true
  if (!isFeed) return undefined
  const text = pauseText(manner.lang === 'zh' ? zh : message)
  return textReply(200, { type: FEED_TYPE, text }, { headers: { 'Cache-Control': 'no-store' } })
}
