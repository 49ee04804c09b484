import type { FeedEnd, HeadNow } from '#actions/feed/message.ts'
import { writeJson } from '#chain/json.ts'
import type { Restarting } from '#failure/failure.ts'
import { failureFields, type Manner } from '../failure-reply.ts'
import { type Reply, textReply } from '../reply.ts'
import type { QueryText } from '../request-text.ts'

/** Events as `text/event-stream` has them (html.spec.whatwg.org, "Server-sent events"). */
export const FEED_TYPE = 'text/event-stream; charset=utf-8'

/** Milliseconds after which a browser comes again. */
const RETRY_MS = 1_000

/**
 * The begin of a feed, which the client gets at once. An id without data is no event, but a client that comes again before
 * its first row names it, and misses none; undefined: it asked for rows further on.
 */
export const beginText = (
  { height, head }: { readonly height: number; readonly head: HeadNow | undefined },
  id: string | undefined,
): string => `retry: ${RETRY_MS}\n${standText(height, head)}\n${id === undefined ? '' : `id: ${id}\n`}\n`

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
  const text = `retry: ${RETRY_MS}\n: ${manner.lang === 'zh' ? zh : message}\n\n`
  return textReply(200, { type: FEED_TYPE, text }, { headers: { 'Cache-Control': 'no-store' } })
}

/** A sign of life: nothing new up to a height. */
export const beatText = (height: number, head: HeadNow | undefined): string =>
  `${standText(height, head)}\n\n`

/** A comment that says how far the chain is read; of the blocks above, when they are not known, why. */
const standText = (height: number, head: HeadNow | undefined): string =>
  `: block ${height}${head === undefined ? '' : `, head ${head.height ?? head.status}`}`

/** How far a client is: its last irreversible row, and the id of its last event. */
export type Sent = { readonly seq: number | undefined; readonly id: string }

/** The last event of a feed. */
export const endEvent = (end: FeedEnd, { seq, id }: Sent, manner: Manner): string => {
  const { lang } = manner
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
      return eventOf('end', { seq, ...failureFields(end.failure, manner) })
  }
}

/** An event with a name, and data as JSON. */
export const eventOf = (name: string, data: Readonly<Record<string, unknown>>): string =>
  `event: ${name}\ndata: ${writeJson(data)}\n\n`

const CUT = {
  en: (id: string) => `Rows came faster than they were read. Go on with Last-Event-ID ${id}.`,
  zh: (id: string) => `读取速度跟不上新记录。请以 Last-Event-ID ${id} 继续。`,
}

type Reset = Extract<FeedEnd, { kind: 'reset' }>

const RESET = {
  en: ({ seq, id, height }: Reset) =>
    `Blocks were taken back by a repair. Discard the rows after ${seq === undefined ? 'block' : 'seq'} ${seq ?? height}, and go on with Last-Event-ID ${id}.`,
  zh: ({ seq, id, height }: Reset) =>
    `部分区块已在修复中撤回。请丢弃${seq === undefined ? '区块' : ' seq'} ${seq ?? height} 之后的记录，并以 Last-Event-ID ${id} 继续。`,
}
