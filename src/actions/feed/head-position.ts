import { BASE58_LETTER } from '#chain/base58.ts'
import type { BlockRef } from '#head/branch.ts'
import { MARK_PATTERN } from './mark.ts'
import { parseTrail, type ResumeTrail, TRAIL_PATTERN } from './trail-text.ts'

/** A block below the highest one of a position. The end of its hash distinguishes it from competing blocks. */
export type LowerBlock = { readonly height: number; readonly mark: string }

/**
 * A reader's position among blocks that are not yet irreversible. It names each of them, so that any instance
 * can later determine which of them were replaced, from the store and the branch.
 */
export type HeadPosition = {
  /** The lowest height whose rows are not yet irreversible for the reader. */
  readonly base: number
  /** The highest block of which the reader has rows, and the number of these rows; 0: all of them. */
  readonly height: number
  readonly hash: string
  readonly rows: number
  /** The other blocks of which the reader has rows, ascending. */
  readonly below: readonly LowerBlock[]
  /** Whether `below` names all of them: of a very long branch only the upper blocks are named. */
  readonly isWhole: boolean
  /** The suffix of an id that encodes the position. */
  readonly text: string
}

/**
 * Maximum number of blocks that an id names besides the highest one: a minute of the chain. An id that names
 * this number is 1.2 KB long, and every event has one.
 */
const MAX_BELOW = 128
/** The greatest distance between two blocks that an id can encode. */
const MAX_GAP = 9_999

/** Whether a hash matches a block of a position. */
export const isMarked = (hash: string | undefined, { mark }: Pick<LowerBlock, 'mark'>): boolean =>
  hash?.endsWith(mark) === true

export function createHeadPosition({ below: all, isWhole: isAll, ...top }: Omit<HeadPosition, 'text'>): HeadPosition {
  const from = firstNamed(all, top)
  const below = all.slice(from)
  const isWhole = isAll && from === 0
  return { ...top, below, isWhole, text: formatHeadPosition({ ...top, below, isWhole }) }
}

/** Index of the first block that an id still names. */
function firstNamed(below: readonly LowerBlock[], { height }: BlockRef): number {
  const far = below.findLastIndex((block, at) => (below[at + 1]?.height ?? height) - block.height > MAX_GAP)
  return Math.max(far + 1, below.length - MAX_BELOW)
}

/** From the highest block down: the end of each hash, preceded by the distance from the block above unless it is 1. */
function formatHeadPosition({ base, height, rows, hash, below, isWhole }: Omit<HeadPosition, 'text'>): string {
  let text = `-${base}-${height}-${rows}-${hash}${isWhole ? '-' : '~'}`
  let above = height
  for (const block of below.toReversed()) {
    const gap = above - block.height
    text += `${gap === 1 ? '' : `${gap}.`}${block.mark}`
    above = block.height
  }
  return text
}

/**
 * The part of a position above a height, when all irreversible rows up to that height were received; undefined: none.
 */
export function trimHeadPosition(place: HeadPosition | undefined, height: number): HeadPosition | undefined {
  if (place === undefined || place.height <= height) return undefined
  const below = place.below.filter(block => block.height > height)
  // All blocks above a named one are named, too.
  const isWhole = place.isWhole || below.length < place.below.length
  return createHeadPosition({ ...place, base: height + 1, below, isWhole })
}

/**
 * An id: the rows that its reader has. `seq`: the last irreversible one; `trail`: the chain they belong to
 * (`trailText`).
 */
export const formatFeedId = (seq: number, place: HeadPosition | undefined, trail = ''): string =>
  `${seq}${place?.text ?? ''}${trail}`

/** An id that a client sent. */
export type LastId = {
  readonly seq: bigint
  readonly place: HeadPosition | undefined
  /** undefined: the chain of its rows is unknown. */
  readonly trail: ResumeTrail | undefined
}

const NUMBER = '(0|[1-9][0-9]{0,14})'
const BELOW = `(?:([1-9][0-9]{0,3})\\.)?(${MARK_PATTERN})`
const PLACE = `-${NUMBER}-${NUMBER}-${NUMBER}-(${BASE58_LETTER}{1,64})(?:([-~])((?:${BELOW}){0,${MAX_BELOW}}))?`
/** The pattern of an id. Ids of older services have no trail, or name only the highest head block. */
export const ID_PATTERN = `^${NUMBER}(?:${PLACE})?(?:${TRAIL_PATTERN})?$`
const ID = new RegExp(ID_PATTERN)
const EACH_BELOW = new RegExp(BELOW, 'g')

/** The parts of an id; undefined: the text is not one. */
export function readId(text: string): LastId | undefined {
  const [, seq, base, height, rows, hash, extent, below = '', , , end, marks] = ID.exec(text) ?? []
  if (seq === undefined) return undefined
  const trail = end === undefined || marks === undefined ? undefined : parseTrail(end, marks)
  if (hash === undefined) return { seq: BigInt(seq), place: undefined, trail }
  const top = { base: Number(base), height: Number(height), rows: Number(rows), hash }
  const place = createHeadPosition({ ...top, below: parseLowerBlocks(below, top), isWhole: extent === '-' })
  return { seq: BigInt(seq), place, trail }
}

function parseLowerBlocks(text: string, { height }: BlockRef): readonly LowerBlock[] {
  const below: LowerBlock[] = []
  let above = height
  for (const [, gap = '1', mark = ''] of text.matchAll(EACH_BELOW)) {
    above -= Number(gap)
    below.unshift({ height: above, mark })
  }
  return below
}
