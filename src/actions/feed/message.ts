import { BASE58_LETTER } from '#chain/base58.ts'
import type { Failure } from '#failure/failure.ts'
import type { HeadAt } from '#head/head-state.ts'
import { recordId, TX_PLACES } from '#indices/list.ts'
import type { View } from '#store/port.ts'
import { blockHashes, type End, getPositionHeight, isOnChain, readBlock } from '../find/blocks-at.ts'
import { ROW_ID_PATTERN, type RowId, readRowId, rowIdText } from '../request/row-id.ts'

/**
 * The published blocks by which a reader's rows are checked against the chain: the last one when the rows were sent, and
 * a few below it, descending. They must be as old as the rows. A block read later could be a replacement, and would
 * confirm rows of the replaced one. Of each hash the end is sufficient.
 */
export type Trail = readonly [at: End, ...below: End[]]

/** The trail of rows that are read from a view. A missing block ends it. */
export async function readTrail(view: View): Promise<Trail> {
  const { height, hash } = view.at
  const heights = listLowerHeights(height)
  const hashes = await blockHashes(view, heights)
  const lost = heights.findIndex(each => !hashes.has(each))
  const named = lost < 0 ? heights : heights.slice(0, lost)
  return [{ height, hash }, ...named.map(each => ({ height: each, hash: hashes.get(each) ?? '' }))]
}

/** The distances of the lower blocks of a trail. A repair further back invalidates all rows of a reader. */
const DISTANCES = [16, 1_024, 65_536]

function listLowerHeights(height: number): readonly number[] {
  return DISTANCES.filter(distance => distance <= height).map(distance => height - distance)
}

/** The highest block of a trail that still belongs to the stored chain; −1: none. */
export async function findCommonHeight(view: View, trail: Trail): Promise<number> {
  const ends = trail.filter(({ height }) => height <= view.at.height)
  const hashes = await blockHashes(
    view,
    ends.map(({ height }) => height),
  )
  return ends.find(({ height, hash }) => hashes.get(height)?.endsWith(hash) === true)?.height ?? -1
}

/** Length of the end of a hash in an id; two blocks share one by chance once in 10^14 times. */
const MARK = 8

/** The pattern of a trail in an id. Ids of older services have more marks. */
const TRAIL_PATTERN = `@(0|[1-9][0-9]{0,14})\\.((?:${BASE58_LETTER}{${MARK}}){1,13})`
const TRAIL = new RegExp(`^${TRAIL_PATTERN}$`)

function formatTrail(trail: Trail): string {
  return `@${trail[0].height}.${trail.map(({ hash }) => hash.slice(-MARK)).join('')}`
}

/** The trail in a text; undefined: the text is not one. */
function parseTrail(text: string): Trail | undefined {
  const [, end, marks] = TRAIL.exec(text) ?? []
  if (end === undefined || marks === undefined) return undefined
  const height = Number(end)
  const below = listLowerHeights(height).map((each, at) => ({ height: each, hash: sliceMark(marks, at + 1) }))
  return [{ height, hash: sliceMark(marks, 0) }, ...below.filter(({ hash }) => hash !== '')]
}

function sliceMark(marks: string, index: number): string {
  return marks.slice(index * MARK, (index + 1) * MARK)
}

/** An id that a client sent: the `seq` of its last irreversible row, and the chain of its rows, if it is known. */
export type LastId = { readonly seq: bigint; readonly trail: Trail | undefined }

export function formatFeedId(seq: number, trail: Trail | undefined): string {
  return `${seq}${trail === undefined ? '' : formatTrail(trail)}`
}

const SEQ = '(0|[1-9][0-9]{0,14})'
export const ID_PATTERN = `^${SEQ}(?:${TRAIL_PATTERN})?$`
/** Ids of older services also name blocks of packed rows. The names are not needed: the rows are sent again. */
const ID = new RegExp(`^${SEQ}(?:(?:-[0-9]{1,15}){3}-[0-9A-Za-z.~-]{1,1300})?(${TRAIL_PATTERN})?$`)

/** The parts of an id; undefined: the text is not one. */
export function readId(text: string): LastId | undefined {
  const [, seq, trail = ''] = ID.exec(text) ?? []
  return seq === undefined ? undefined : { seq: BigInt(seq), trail: parseTrail(trail) }
}

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
  readonly id: string
}

export type FeedEnd =
  /** The reader was too slow. */
  | { readonly kind: 'cut' }
  /**
   * Blocks were rolled back, and with them rows that were sent. Rows up to `seq` are still valid; if rows
   * have no number, those of blocks up to `height`. `id`: the one from which a reader resumes.
   */
  | { readonly kind: 'reset'; readonly seq: number | undefined; readonly id: string; readonly height: number }
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

export const formatLastRow = (last: LastRow): string =>
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
  return { kind: 'reset', seq: undefined, id: formatLastRow(left), height }
}
