import type { Failure } from '#failure/failure.ts'
import type { HeadAt } from '#head/head-state.ts'
import type { BranchUpdate } from './follow-branch.ts'
import { formatFeedId, type HeadPosition } from './head-position.ts'
import type { Trail } from './landmarks.ts'

/** Consecutive rows of a list, as events ready to be sent. */
export type FeedPart = {
  readonly kind: 'rows'
  readonly bytes: Uint8Array
  /** Number of rows that count under the plan when they are sent; 0: they were counted when they were searched. */
  readonly count: number
  /** `seq` of the last irreversible row; absent: there is none. */
  readonly last?: number
  /** The reader's position in the head blocks after these rows. */
  readonly place: HeadPosition | undefined
  /** The id from which the reader resumes. */
  readonly id: string
}

/** The last message of a feed. */
export type FeedEnd =
  /** The reader was too slow. */
  | { readonly kind: 'cut' }
  /**
   * Blocks were rolled back, and with them rows that were sent. Rows up to `seq` are still valid; if rows
   * have no number, those of blocks up to `height`. `id`: the one from which a reader resumes.
   */
  | { readonly kind: 'reset'; readonly seq: number | undefined; readonly id: string; readonly height: number }
  /** The feed cannot continue. */
  | { readonly kind: 'end'; readonly failure: Failure }

/** Status and height of the known head blocks. */
export type HeadNow = Pick<HeadAt, 'status' | 'height'>

/**
 * A message of a feed to its reader. `beat`: there are no new rows up to a height; `head` is set if the
 * reader asks for it. `behind` is internal: there are new rows that are not in the outbox, so the list must
 * be read again. Its `trail` belongs to the rows that were put into the outbox before.
 */
export type Message =
  | FeedPart
  | { readonly kind: 'beat'; readonly height: number; readonly head: HeadNow | undefined }
  | { readonly kind: 'behind'; readonly trail?: Trail }
  | FeedEnd

/** A reader's position and its missing irreversible rows; `trail` shows the chain they belong to. */
type Missing = {
  readonly next: number
  readonly place: HeadPosition | undefined
  /** The rows from `next` on. */
  readonly lines: readonly string[]
  readonly trail: string
}

/**
 * The events for a reader: first the block from which rows were dropped, then irreversible rows, then rows of
 * head blocks. undefined: there is no event. Of irreversible rows only the last one has a trail in its id: a client
 * resumes from there.
 */
export function buildFeedPart(
  { next, place, lines, trail }: Missing,
  { droppedFrom, kept, packed, place: end }: BranchUpdate = { ...NONE, kept: place, place },
): FeedPart | undefined {
  const count = lines.length + packed.length
  if (count === 0 && droppedFrom === undefined) return undefined
  const last = next + lines.length - 1
  const dropped = JSON.stringify({ from_block: String(droppedFrom) })
  const id = formatFeedId(last, packed.length === 0 ? kept : end, trail)
  const texts = [
    droppedFrom === undefined ? '' : eventText(formatFeedId(next - 1, kept, trail), 'dropped', dropped),
    ...lines.map((line, at) => {
      const isEnd = packed.length === 0 && at === lines.length - 1
      return `id: ${isEnd ? id : formatFeedId(next + at, kept)}\ndata: ${line}\n\n`
    }),
    ...packed.map(row => eventText(formatFeedId(last, row.place, trail), 'packed', row.line)),
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

/** An event in the format of `text/event-stream`. Events of irreversible rows have no name. */
const eventText = (id: string, name: string, data: string): string => `id: ${id}\nevent: ${name}\ndata: ${data}\n\n`
