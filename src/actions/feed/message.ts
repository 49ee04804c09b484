import type { Failure } from '#failure/failure.ts'
import type { HeadAt } from '#head/shown.ts'
import type { Settled } from './follow-branch.ts'
import { type HeadPosition, idOf } from './head-position.ts'
import type { Trail } from './landmarks.ts'

/** Rows of a list that follow each other, as events that are ready to be sent. */
export type Part = {
  readonly kind: 'rows'
  readonly bytes: Uint8Array
  readonly count: number
  /** `seq` of the last irreversible one; absent: there is none. */
  readonly last?: number
  /** The reader's position in the head blocks then. */
  readonly place: HeadPosition | undefined
  /** The id with which its reader goes on. */
  readonly id: string
}

/** The last message of a feed. */
export type FeedEnd =
  /** The reader was too slow. */
  | { readonly kind: 'cut' }
  /**
   * Blocks were taken back, and rows that were handed out with them; those up to `seq`, or of the blocks up to `height` where
   * rows have no number, still hold. `id`: with which a reader goes on.
   */
  | { readonly kind: 'reset'; readonly seq: number | undefined; readonly id: string; readonly height: number }
  /** The feed cannot go on. */
  | { readonly kind: 'end'; readonly failure: Failure }

/** How far the blocks above the irreversible ones are known. */
export type HeadNow = Pick<HeadAt, 'status' | 'height'>

/**
 * What a feed tells its reader. `beat`: nothing is new up to a height; `head`: where it is asked for. `behind`, which no
 * reader sees: rows came that are not in the outbox, so the list is to be read again; `trail`: of the rows that were put
 * into it before.
 */
export type Message =
  | Part
  | { readonly kind: 'beat'; readonly height: number; readonly head: HeadNow | undefined }
  | { readonly kind: 'behind'; readonly trail?: Trail }
  | FeedEnd

/** A reader's position, and the irreversible rows that it misses; `trail`: of which chain these are. */
type Missing = {
  readonly next: number
  readonly place: HeadPosition | undefined
  /** The rows from `next` on. */
  readonly lines: readonly string[]
  readonly trail: string
}

/**
 * What a reader is sent: which rows of blocks above are gone, then irreversible rows, then rows of blocks above. undefined:
 * nothing. The id of an irreversible row has no trail, which comes behind these rows in an id without data: that is no
 * event, but the id with which clients go on.
 */
export const partOf = (
  { next, place, lines, trail }: Missing,
  { droppedFrom, kept, packed, place: end }: Settled = { ...NONE, kept: place, place },
): Part | undefined => {
  const count = lines.length + packed.length
  if (count === 0 && droppedFrom === undefined) return undefined
  const last = next + lines.length - 1
  const dropped = JSON.stringify({ from_block: String(droppedFrom) })
  const id = idOf(last, packed.length === 0 ? kept : end, trail)
  const texts = [
    droppedFrom === undefined ? '' : eventText(idOf(next - 1, kept, trail), 'dropped', dropped),
    ...lines.map((line, at) => `id: ${idOf(next + at, kept)}\ndata: ${line}\n\n`),
    ...packed.map(row => eventText(idOf(last, row.place, trail), 'packed', row.line)),
    lines.length > 0 && packed.length === 0 ? `id: ${id}\n\n` : '',
  ]
  return {
    kind: 'rows',
    bytes: encoder.encode(texts.join('')),
    count,
    ...(lines.length === 0 ? {} : { last }),
    place: end,
    id,
  }
}

const NONE = { droppedFrom: undefined, packed: [] }

const encoder = new TextEncoder()

/** An event as `text/event-stream` has it; an irreversible row is one without a name. */
const eventText = (id: string, name: string, data: string): string =>
  `id: ${id}\nevent: ${name}\ndata: ${data}\n\n`
