import type { Rows } from '../list/rows.ts'
import type { Piece } from './mailbox.ts'
import { idOf, type Place } from './place.ts'
import type { Settled } from './settle.ts'

/** How rows and events are written. */
export type Writer = {
  /** Each row as JSON in one line. */
  readonly lines: (rows: Rows) => readonly string[]
  /** An event; without a name it is an irreversible row. */
  readonly event: (event: {
    readonly id: string
    readonly name?: 'packed' | 'dropped'
    readonly data: string
  }) => string
}

/** What a reader has, and the irreversible rows that it lacks. */
type Lacking = {
  readonly next: number
  readonly place: Place | undefined
  /** The rows from `next` on. */
  readonly lines: readonly string[]
}

/**
 * What a reader is sent: which rows of blocks above are gone, then irreversible rows, then rows of blocks above. undefined:
 * nothing.
 */
export const pieceOf = (
  { event }: Pick<Writer, 'event'>,
  { next, place, lines }: Lacking,
  { droppedFrom, kept, packed, place: end }: Settled = { ...NONE, kept: place, place },
): Piece | undefined => {
  const count = lines.length + packed.length
  if (count === 0 && droppedFrom === undefined) return undefined
  const last = next + lines.length - 1
  const texts = [
    ...(droppedFrom === undefined
      ? []
      : [event({ id: idOf(next - 1, kept), name: 'dropped', data: droppedText(droppedFrom) })]),
    ...lines.map((data, at) => event({ id: idOf(next + at, kept), data })),
    ...packed.map(row => event({ id: idOf(last, row.place), name: 'packed', data: row.line })),
  ]
  const rows = lines.length === 0 ? {} : { last }
  return {
    kind: 'rows',
    bytes: encoder.encode(texts.join('')),
    count,
    ...rows,
    place: end,
    id: idOf(last, packed.length === 0 ? kept : end),
  }
}

const NONE = { droppedFrom: undefined, packed: [] }

const encoder = new TextEncoder()

const droppedText = (from: number): string => JSON.stringify({ from_block: String(from) })
