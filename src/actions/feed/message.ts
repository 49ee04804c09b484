import type { Failure } from '#failure/failure.ts'
import type { HeadAt } from '#head/head-state.ts'
import { recordId, TX_PLACES } from '#indices/position.ts'
import type { View } from '#store/port.ts'
import { getPositionHeight, isOnChain, readBlock } from '../find/blocks-at.ts'
import { ROW_ID_PATTERN, type RowId, readRowId, rowIdText } from '../request/row-id.ts'
import {
  findCommonHeight,
  formatFeedId,
  formatTrail,
  parseTrail,
  readTrail,
  TRAIL_PATTERN,
  type Trail,
} from './trail.ts'

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

/**
 * The last row that a reader of a searched feed received. With a trail, the end of a block: the reader has
 * not received a row.
 */
export type LastRow = RowId & { readonly trail?: Trail | undefined }

export const LAST_ROW_PATTERN = `${ROW_ID_PATTERN.slice(0, -1)}(?:${TRAIL_PATTERN})?$`

export const lastRowText = (last: LastRow): string =>
  `${rowIdText(last)}${last.trail === undefined ? '' : formatTrail(last.trail)}`

/** The parts of an id; undefined: the text is not one. */
export function readLastRow(text: string): LastRow | undefined {
  const end = text.indexOf('@')
  if (end < 0) return readRowId(text)
  const trail = parseTrail(text.slice(end))
  const row = readRowId(text.slice(0, end))
  return row && trail && { ...row, trail }
}

/** The position after all rows of a block, for a reader that has not received a row. */
export const endOfBlock = async (view: View, block: { readonly height: number; readonly hash: string }) => ({
  position: recordId(block.height, TX_PLACES - 1, TX_PLACES - 1),
  hash: block.hash,
  trail: await readTrail(view),
})

/** The reset for a reader that has not received a row, if the block of its position was rolled back. */
export async function findReset(
  view: View,
  last: LastRow | undefined,
): Promise<Extract<FeedEnd, { kind: 'reset' }> | undefined> {
  if (last?.trail === undefined) return undefined
  if (await isOnChain(view, { height: getPositionHeight(last.position), hash: last.hash })) return undefined
  const height = Math.max(0, await findCommonHeight(view, last.trail))
  const left = await endOfBlock(view, await readBlock(view, height))
  return { kind: 'reset', seq: undefined, id: lastRowText(left), height }
}
