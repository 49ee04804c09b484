import { BASE58_LETTER } from '#chain/base58.ts'
import type { Point } from '#head/branch.ts'
import { MARK_PATTERN } from './mark.ts'
import { type GivenTrail, TRAIL_PATTERN, trailOf } from './trail-text.ts'

/** A block below the highest one of which a reader has rows: the end of its hash tells it from its rivals. */
export type Below = { readonly height: number; readonly mark: string }

/**
 * How far a reader has rows of blocks that are not irreversible yet. It names each of these blocks, so that the store and
 * the branch of any later moment tell which of them were replaced, whoever is asked then.
 */
export type HeadPosition = {
  /** Rows of lower blocks are irreversible for the reader. */
  readonly base: number
  /** The highest block of which it has rows, and how many of its rows; 0: all of them. */
  readonly height: number
  readonly hash: string
  readonly rows: number
  /** The others of which it has rows, ascending. */
  readonly below: readonly Below[]
  /** Whether `below` names all of them: a very long branch is named from some block on. */
  readonly isWhole: boolean
  /** The end of an id that says so. */
  readonly text: string
}

/** Blocks that an id names beside the highest one: a minute. An id that names them all is 1.2 KB long, and goes with every event. */
const MOST_BELOW = 128
/** The greatest distance of two blocks that an id can tell. */
const MOST_GAP = 9_999

/** Whether a hash is the one of a block of a place. */
export const isMarked = (hash: string | undefined, { mark }: Pick<Below, 'mark'>): boolean =>
  hash?.endsWith(mark) === true

export const headPositionOf = ({
  below: all,
  isWhole: isAll,
  ...top
}: Omit<HeadPosition, 'text'>): HeadPosition => {
  const from = firstNamed(all, top)
  const below = all.slice(from)
  const isWhole = isAll && from === 0
  return { ...top, below, isWhole, text: textOf({ ...top, below, isWhole }) }
}

/** The first of some blocks that an id still names. */
const firstNamed = (below: readonly Below[], { height }: Point): number => {
  const far = below.findLastIndex((block, at) => (below[at + 1]?.height ?? height) - block.height > MOST_GAP)
  return Math.max(far + 1, below.length - MOST_BELOW)
}

/** From the highest block down: what each hash ends with, and before it the distance from the block above, unless it is 1. */
const textOf = ({ base, height, rows, hash, below, isWhole }: Omit<HeadPosition, 'text'>): string => {
  let text = `-${base}-${height}-${rows}-${hash}${isWhole ? '-' : '~'}`
  let above = height
  for (const block of below.toReversed()) {
    const gap = above - block.height
    text += `${gap === 1 ? '' : `${gap}.`}${block.mark}`
    above = block.height
  }
  return text
}

/** The part of a position above a height, up to which all irreversible rows were received; undefined: none. */
export const positionAbove = (place: HeadPosition | undefined, height: number): HeadPosition | undefined => {
  if (place === undefined || place.height <= height) return undefined
  const below = place.below.filter(block => block.height > height)
  // All blocks above a named one were named, too.
  const isWhole = place.isWhole || below.length < place.below.length
  return headPositionOf({ ...place, base: height + 1, below, isWhole })
}

/** An id: what its reader has then. `seq`: its last irreversible row; `trail`: of which chain its rows are (`trailText`). */
export const idOf = (seq: number, place: HeadPosition | undefined, trail = ''): string =>
  `${seq}${place?.text ?? ''}${trail}`

/** An id as a client gives it back. */
export type LastId = {
  readonly seq: bigint
  readonly place: HeadPosition | undefined
  /** undefined: the chain of its rows is not known. */
  readonly trail: GivenTrail | undefined
}

const NUMBER = '(0|[1-9][0-9]{0,14})'
const BELOW = `(?:([1-9][0-9]{0,3})\\.)?(${MARK_PATTERN})`
const PLACE = `-${NUMBER}-${NUMBER}-${NUMBER}-(${BASE58_LETTER}{1,64})(?:([-~])((?:${BELOW}){0,${MOST_BELOW}}))?`
/** The pattern of an id; one of an older service has no trail, or names the highest block above alone. */
export const ID_PATTERN = `^${NUMBER}(?:${PLACE})?(?:${TRAIL_PATTERN})?$`
const ID = new RegExp(ID_PATTERN)
const EACH_BELOW = new RegExp(BELOW, 'g')

/** undefined: it is no id of ours. */
export const readId = (text: string): LastId | undefined => {
  const [, seq, base, height, rows, hash, extent, below = '', , , end, marks] = ID.exec(text) ?? []
  if (seq === undefined) return undefined
  const trail = end === undefined || marks === undefined ? undefined : trailOf(end, marks)
  if (hash === undefined) return { seq: BigInt(seq), place: undefined, trail }
  const top = { base: Number(base), height: Number(height), rows: Number(rows), hash }
  const place = headPositionOf({ ...top, below: belowOf(below, top), isWhole: extent === '-' })
  return { seq: BigInt(seq), place, trail }
}

const belowOf = (text: string, { height }: Point): readonly Below[] => {
  const below: Below[] = []
  let above = height
  for (const [, gap = '1', mark = ''] of text.matchAll(EACH_BELOW)) {
    above -= Number(gap)
    below.unshift({ height: above, mark })
  }
  return below
}
