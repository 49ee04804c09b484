import { BASE58_LETTER } from '#chain/base58.ts'
import type { View } from '#store/port.ts'
import { blockHashes, type End } from '../find/blocks-at.ts'

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
export const TRAIL_PATTERN = `@(0|[1-9][0-9]{0,14})\\.((?:${BASE58_LETTER}{${MARK}}){1,13})`
const TRAIL = new RegExp(`^${TRAIL_PATTERN}$`)

export function formatTrail(trail: Trail): string {
  return `@${trail[0].height}.${trail.map(({ hash }) => hash.slice(-MARK)).join('')}`
}

/** The trail in a text; undefined: the text is not one. */
export function parseTrail(text: string): Trail | undefined {
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
