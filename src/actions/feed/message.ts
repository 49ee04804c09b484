import type { Failure } from '#failure/failure.ts'
import type { HeadAt } from '#head/head-state.ts'
import { formatFeedId, type Trail } from './trail.ts'

/** Consecutive rows of a list, as events ready to be sent. */
export type FeedPart = {
  readonly kind: 'rows'
  readonly bytes: Uint8Array
  /** Number of rows that count under the plan when they are sent; 0: they were counted when they were searched. */
  readonly count: number
  /** `seq` of the last irreversible row; absent: there is none. */
  readonly last?: number
  /** The chain of all rows that the reader then has; absent: the ids of the rows show it. */
  readonly trail?: Trail
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
 * be read again.
 */
export type Message =
  | FeedPart
  | { readonly kind: 'beat'; readonly height: number; readonly head: HeadNow | undefined }
  | { readonly kind: 'behind' }
  | FeedEnd

/** What a reader lacks. */
type MissingRows = {
  /** The `seq` of the first irreversible row in `lines`. */
  readonly next: number
  readonly lines: readonly string[]
  /** Its packed rows of this block and of later ones are no longer valid; undefined: none. */
  readonly droppedFrom?: number | undefined
  readonly packed?: readonly string[]
  readonly trail: Trail
}

/**
 * The events for a reader: first the block from which rows were dropped, then irreversible rows, then rows of
 * head blocks. undefined: there is no event. Of irreversible rows only the last one has a trail in its id: a client
 * resumes from there.
 */
export function buildFeedPart({ next, lines, droppedFrom, packed = [], trail }: MissingRows): FeedPart | undefined {
  const count = lines.length + packed.length
  if (count === 0 && droppedFrom === undefined) return undefined
  const last = next + lines.length - 1
  const id = formatFeedId(last, trail)
  const dropped = JSON.stringify({ from_block: String(droppedFrom) })
  const texts = [
    droppedFrom === undefined ? '' : eventText(formatFeedId(next - 1, trail), 'dropped', dropped),
    ...lines.map((line, at) => `id: ${at === lines.length - 1 ? id : next + at}\ndata: ${line}\n\n`),
    ...packed.map(line => eventText(id, 'packed', line)),
  ]
  const bytes = encoder.encode(texts.join(''))
  return { kind: 'rows', bytes, count, ...(lines.length === 0 ? {} : { last }), trail, id }
}

const encoder = new TextEncoder()

/** An event in the format of `text/event-stream`. Events of irreversible rows have no name. */
const eventText = (id: string, name: string, data: string): string => `id: ${id}\nevent: ${name}\ndata: ${data}\n\n`
