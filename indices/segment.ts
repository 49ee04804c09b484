import { type DocOf, defineIndex, json } from './define.ts'

/**
 * A run of members of a ranking. It begins right after the standing (amount, name), or at the top when the
 * amount is `''`, and ends where the next segment begins. In the root, `leaf` is the number of the leaf that
 * divides the run further.
 */
export type Segment = readonly [amount: string, name: string, count: number, leaf?: number]

/**
 * Member counts of the parts of a large group of a counted order, best first: a tree of two levels. Id: `segmentsId`;
 * leaf 0 is the root. A small group has no such documents. A group that has become small has empty ones.
 */
export const segments = defineIndex({
  name: 'segments',
  kind: 'state',
  fields: { segments: json<readonly Segment[]>() },
})
export type SegmentsDoc = DocOf<typeof segments>

/**
 * Bounds of the tree. A page skips less than one segment, at a tenth of the cost of its own rows. Each new
 * block rewrites the leaves that it changes. Segments and leaves are therefore small: a leaf takes some 6 KB
 * when half full; the root of ten million members has some 1,200 segments.
 */
export type SegmentSizes = {
  /** Largest group without segments, in members. */
  readonly group: number
  /** Largest segment, in members. */
  readonly members: number
  /** Largest leaf, in segments. */
  readonly leaf: number
}
export const SEGMENT_SIZES: SegmentSizes = { group: 512, members: 128, leaf: 256 }

/** `group` is `''` for orders without groups. It is the last part, so ids stay distinct whatever it contains. */
export const segmentsId = (index: string, leaf: number, group: string): string => `${index}/${leaf}/${group}`

/**
 * The segment with the member at `offset` (from 0), and the number of its members to skip; undefined: there
 * is no such member.
 */
export function findSegment(
  list: readonly Segment[],
  offset: number,
): { readonly segment: Segment; readonly skip: number } | undefined {
  let skip = offset
  for (const segment of list) {
    if (skip < segment[2]) return { segment, skip }
    skip -= segment[2]
  }
  return undefined
}
