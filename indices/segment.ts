import { type DocOf, defineIndex } from './define.ts'
import { json } from './fields.ts'

/**
 * A run of a ranking: it begins right after the standing (amount, name), or at the top when the amount is `''`, and ends
 * where the next one begins. In the root `leaf` is the number of the leaf that cuts the run into shorter ones.
 */
export type Segment = readonly [amount: string, name: string, count: number, leaf?: number]

/**
 * How many members stand in each part of a large group of a counted order, best first: a tree of two levels. Id:
 * `segmentsId`; leaf 0 is the root. A small group has none, and one that became small has empty ones.
 */
export const segments = defineIndex({
  name: 'segments',
  kind: 'state',
  fields: { segments: json<readonly Segment[]>() },
})
export type SegmentsDoc = DocOf<typeof segments>

/**
 * Bounds of the tree. A page passes over less than one segment, at a tenth of what its own rows cost each; the chain's
 * next block rewrites the leaves it touched: both are kept small. A leaf takes some 6 KB, half full; the root of ten
 * million members has some 1,200 segments.
 */
export type SegmentSizes = {
  /** Most members of a group without segments. */
  readonly group: number
  /** Most members of a segment. */
  readonly members: number
  /** Most segments of a leaf. */
  readonly leaf: number
}
export const SEGMENT_SIZES: SegmentSizes = { group: 512, members: 128, leaf: 256 }

/** `group` is `''` for orders without groups. Comes last: whatever it contains, ids stay apart. */
export const segmentsId = (index: string, leaf: number, group: string): string => `${index}/${leaf}/${group}`

/** The segment with the member at `offset` from 0, and how many of its members stand before; undefined: no such member. */
export const segmentAt = (
  list: readonly Segment[],
  offset: number,
): { readonly segment: Segment; readonly skip: number } | undefined => {
  let skip = offset
  for (const segment of list) {
    if (skip < segment[2]) return { segment, skip }
    skip -= segment[2]
  }
  return undefined
}
