import type { Segment, SegmentSizes } from '#indices/segment.ts'
import { isEarlierSegment, LAST_NAME, type Standing } from '#indices/standing.ts'

/** Index of the segment with a standing; `list` covers the whole ranking, or the run with that standing. */
export function findSegmentIndex(list: readonly Segment[], { amount, name }: Standing): number {
  const standing = { amount: String(amount), name }
  let low = 0
  let high = list.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (isEarlierSegment(list[middle] as Segment, standing)) low = middle
    else high = middle - 1
  }
  return low
}

/** Cuts a run of members, best first, into segments of half the maximum; the first begins where the run does. */
export const cutMembers = (
  [amount, name]: Segment,
  members: readonly Standing[],
  sizes: SegmentSizes,
): readonly Segment[] =>
  evenly(members.length, sizes.members / 2).map(([from, to]): Segment => {
    const last = members[from - 1]
    if (last === undefined) return [amount, name, to - from]
    const isTie = members[from]?.amount === last.amount
    return [String(last.amount), isTie ? last.name : LAST_NAME, to - from]
  })

/** Joins neighbours that together have at most half the maximum length. */
export function joinSmall(list: readonly Segment[], sizes: SegmentSizes): readonly Segment[] {
  const areSmall = (one: Segment | undefined, next: Segment): boolean =>
    one !== undefined && one[2] + next[2] <= sizes.members / 2
  // Nearly all lists need no joining.
  if (!list.some((segment, at) => areSmall(list[at - 1], segment))) return list
  const joined: Segment[] = []
  for (const segment of list) {
    const last = joined.at(-1)
    if (last !== undefined && areSmall(last, segment))
      joined[joined.length - 1] = [last[0], last[1], last[2] + segment[2]]
    else joined.push(segment)
  }
  return joined
}

/** Divides `length` elements into parts of at least about `target`, or into one part: [from, to) of each. */
export function evenly(length: number, target: number): readonly (readonly [from: number, to: number])[] {
  const parts = Math.max(1, Math.floor(length / target))
  const at = (part: number): number => Math.floor((part * length) / parts)
  return Array.from({ length: parts }, (_, part) => [at(part), at(part + 1)] as const)
}

export const countMembers = (list: readonly Segment[]): number => list.reduce((sum, [, , count]) => sum + count, 0)
