import type { FeedEnd, HeadNow } from '#actions/feed/message.ts'
import { writeJson } from '#chain/json.ts'
import { failureFields, type Manner } from '../failure-reply.ts'

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

/** A feed that says why it has nothing yet, and ends without an event: the client goes on where it was. */
export const pauseText = (reason: string): string => `retry: ${RETRY_MS}\n: ${reason}\n\n`

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
      return `id: ${end.seq}\n${eventOf('reset', {
        seq: end.seq,
        block_height: String(end.height),
        message: RESET[lang](end.seq),
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

const RESET = {
  en: (seq: number) =>
    `Blocks were taken back by a repair. Discard the rows after seq ${seq}, and go on with Last-Event-ID ${seq}.`,
  zh: (seq: number) =>
    `部分区块已在修复中撤回。请丢弃 seq ${seq} 之后的记录，并以 Last-Event-ID ${seq} 继续。`,
}
