import type { Published, View } from '#store/port.ts'
import type { Listing } from '../list/list-rows.ts'
import { readParts } from '../list/read-parts.ts'
import { blockHashes, heightOf } from '../list/row-id.ts'
import type { Followed } from './followed.ts'
import type { Reader, Shown } from './groups.ts'
import { type End, highestOn, isOn } from './landmarks.ts'
import type { FeedEnd, Piece } from './mailbox.ts'
import { pieceOf } from './piece.ts'
import { type Place, placeAbove } from './place.ts'
import { type Standing, stillThere } from './settle.ts'

/** A look at a list: what a feed needs of it at one height. */
export type Looked = {
  readonly at: Published
  readonly listing: Listing
  readonly followed: Followed
  /** Its irreversible rows. */
  readonly count: number
}

/** Opens the list, or a part of it. */
export type Open = (range?: object) => Promise<Looked>

/** How far a client is: `next` is the row it waits for, those up to `had` it has, and at `place` it is above them. */
export type Position = { readonly next: number; readonly had: number; readonly place: Place | undefined }

/** Rows that were read, and the reader whom the new ones are for. */
type Page = {
  readonly kind: 'page'
  readonly piece: Piece | undefined
  readonly reader: Omit<Reader, 'next' | 'mailbox'>
}

type Reset = FeedEnd & { readonly kind: 'reset' }

type Asked = {
  /** Where the rows before were read. */
  readonly since: Published
  readonly position: Position
  readonly shown: Omit<Shown, 'rows'>
  readonly landmarks: readonly End[]
}

/** Rows from `next` on, as many as are read at once, at the height of now; or which of those up to `had` are there no more. */
export const readPage = async (
  view: View,
  open: Open,
  { since, position, shown, landmarks }: Asked,
): Promise<Page | Reset> => {
  const { next, had, place } = position
  if (!(await isOn(view, since))) {
    const height = await highestOn(view, landmarks)
    const { count } = height < 0 ? { count: 0 } : await open({ end_block: BigInt(height) })
    if (had > count) return { kind: 'reset', seq: count, height: Math.max(height, 0) }
  }
  const { at, listing, followed, count } = await open()
  if (had > count) return { kind: 'reset', seq: count, height: at.height }
  const own = { ...shown, rows: listing.rows }
  const docs = await docsFrom(view, listing, { next, count })
  const lines = own.write.lines(await own.rows(view, docs))
  const heights = docs.map(doc => heightOf(listing.idOf?.(doc) ?? ''))
  const standing = await standingOf(view, place, heights)
  const piece = pieceOf(own.write, { next, place, lines }, { ...standing, packed: [], place: standing.kept })
  // With the last of these rows the reader has those of its place as irreversible ones.
  const reader = { followed, shown: own, end: at, count, place: placeAbove(standing.kept, at.height) }
  return { kind: 'page', piece, reader }
}

/** What the store alone tells of a place before irreversible rows of blocks at `heights` come. */
const standingOf = async (
  view: View,
  place: Place | undefined,
  heights: readonly number[],
): Promise<Standing> => {
  if (place === undefined) return { droppedFrom: undefined, kept: undefined }
  const { height } = view.at
  const named = [...place.below, place].map(block => block.height)
  const hashes = await blockHashes(
    view,
    named.filter(each => each <= height),
  )
  return stillThere(place, heights, { height, storedHash: at => hashes.get(at), now: undefined })
}

/** The rows from `next` on that are in memory at once. */
const docsFrom = async (
  view: View,
  listing: Listing,
  { next, count }: { readonly next: number; readonly count: number },
): Promise<readonly unknown[]> => {
  if (next > count) return []
  const { ahead, later } = await readParts(view, listing, { offset: next - 1, total: count })
  return ahead.length > 0 ? ahead : (later[0] ?? [])
}
