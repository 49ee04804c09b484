import type { FeedEnd, HeadNow } from '#actions/feed/message.ts'
import { writeJson } from '#chain/json.ts'
import type { Restarting } from '#failure/failure.ts'
import { failureFields, type ReplyOptions } from '../failure-reply.ts'
import { type Reply, textReply } from '../reply.ts'
import type { QueryText } from '../request-text.ts'

/** The media type of server-sent events (html.spec.whatwg.org, "Server-sent events"). */
export const FEED_TYPE = 'text/event-stream; charset=utf-8'

/** Milliseconds before a browser reconnects. */
const RETRY_MS = 1_000

/**
 * The beginning of a feed, which is sent at once. An id without data is not an event, but a client that reconnects
 * before its first row sends it and misses none. undefined: the client requested rows from a later number.
 */
export const beginText = (
  { height, head }: { readonly height: number; readonly head: HeadNow | undefined },
  id: string | undefined,
): string => `retry: ${RETRY_MS}\n${standText(height, head)}\n${id === undefined ? '' : `id: ${id}\n`}\n`

/**
 * The answer to a request for events while the service is unavailable: a stream that ends at once. An
 * `EventSource` reconnects after it with its last id, but stops for good after a status other than 200.
 * undefined: the request is not for events.
 */
export const pausedFeed = (
  {
    request,
    query,
    replyOptions,
  }: Pick<QueryText, 'query'> & { readonly request: Request; readonly replyOptions: ReplyOptions },
  { message, zh = message }: Restarting,
): Reply | undefined => {
  const isFeed =
    query.some(([name, value]) => name === 'format' && value === 'sse') ||
    request.headers.get('accept')?.includes('text/event-stream') === true
  if (!isFeed) return undefined
  const text = `retry: ${RETRY_MS}\n: ${replyOptions.lang === 'zh' ? zh : message}\n\n`
  return textReply(200, { type: FEED_TYPE, text }, { headers: { 'Cache-Control': 'no-store' } })
}

/** A heartbeat: no new rows up to a height. */
export const beatText = (height: number, head: HeadNow | undefined): string => `${standText(height, head)}\n\n`

/** A comment with the published height, and with the head's height, or its status when that height is unknown. */
const standText = (height: number, head: HeadNow | undefined): string =>
  `: block ${height}${head === undefined ? '' : `, head ${head.height ?? head.status}`}`

/** The position of a client: its last irreversible row, and the id of its last event. */
export type Sent = { readonly seq: number | undefined; readonly id: string }

/** The last event of a feed. */
export const endEvent = (end: FeedEnd, { seq, id }: Sent, options: ReplyOptions): string => {
  const { lang } = options
  switch (end.kind) {
    case 'cut':
      return eventOf('cut', { seq, message: CUT[lang](id) })
    case 'reset':
      return `id: ${end.id}\n${eventOf('reset', {
        seq: end.seq,
        block_height: String(end.height),
        message: RESET[lang](end),
      })}`
    case 'end':
      return eventOf('end', { seq, ...failureFields(end.failure, options) })
  }
}

/** A named event, with data as JSON. */
export const eventOf = (name: string, data: Readonly<Record<string, unknown>>): string =>
  `event: ${name}\ndata: ${writeJson(data)}\n\n`

const CUT = {
  en: (id: string) => `Rows came faster than they were read. Continue with Last-Event-ID ${id}.`,
  zh: (id: string) => `读取速度跟不上新记录。请以 Last-Event-ID ${id} 继续。`,
}

type Reset = Extract<FeedEnd, { kind: 'reset' }>

const RESET = {
  en: ({ seq, id, height }: Reset) =>
    `Blocks were taken back by a repair. Discard the rows after ${seq === undefined ? 'block' : 'seq'} ${seq ?? height}, and continue with Last-Event-ID ${id}.`,
  zh: ({ seq, id, height }: Reset) =>
    `部分区块已在修复中撤回。请丢弃${seq === undefined ? '区块' : ' seq'} ${seq ?? height} 之后的记录，并以 Last-Event-ID ${id} 继续。`,
}
