import { Failure } from '#failure/failure.ts'
import { type Segment, type SegmentSizes, segments, segmentsId } from '#indices/segment.ts'
import { getSegmentStart, isEarlierSegment, LAST_NAME, type Standing, type StandingRange } from '#indices/standing.ts'
import type { State } from './state.ts'

/** Index of the segment with a standing; `list` covers the whole ranking, or the run with that standing. */
function findSegmentIndex(list: readonly Segment[], { amount, name }: Standing): number {
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
const cutMembers = ([amount, name]: Segment, members: readonly Standing[], sizes: SegmentSizes): readonly Segment[] =>
  evenly(members.length, sizes.members / 2).map(([from, to]): Segment => {
    const last = members[from - 1]
    if (last === undefined) return [amount, name, to - from]
    const isTie = members[from]?.amount === last.amount
    return [String(last.amount), isTie ? last.name : LAST_NAME, to - from]
  })

/** Joins neighbours that together have at most half the maximum length. */
function joinSmall(list: readonly Segment[], sizes: SegmentSizes): readonly Segment[] {
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
function evenly(length: number, target: number): readonly (readonly [from: number, to: number])[] {
  const parts = Math.max(1, Math.floor(length / target))
  const at = (part: number): number => Math.floor((part * length) / parts)
  return Array.from({ length: parts }, (_, part) => [at(part), at(part + 1)] as const)
}

const countMembers = (list: readonly Segment[]): number => list.reduce((sum, [, , count]) => sum + count, 0)

/** A ranking: all members of a counted order that share a group. */
export type RankingKey = Pick<StandingRange, 'index' | 'order' | 'group'>

const TOP: Segment = ['', '', 0]

/** Opens the stored tree of a ranking at the end of a block. The result of `settle` depends only on the block's moves. */
export function openTree(state: State, ranking: RankingKey, sizes: SegmentSizes) {
  const root = [...(readLeaf(state, ranking, 0) ?? lost(ranking, 0))]
  const draft: Draft = { state, ranking, sizes, root, leaves: new Map() }
  return {
    /** Moves members out of the standings `left` and into the standings `entered`. */
    move: (left: readonly Standing[], entered: readonly Standing[]): void => {
      const { leaves } = draft
      const placesOf = (standings: readonly Standing[]) => standings.map(each => findSegmentIndex(root, each))
      const [from, to] = [placesOf(left), placesOf(entered)]
      const places = new Set([...from, ...to])
      const sums = new Map([...places].map(place => [place, new Map<number, number>()]))
      const count = (standings: readonly Standing[], at: readonly number[], by: 1 | -1): void =>
        standings.forEach((standing, member) => {
          const place = at[member] ?? 0
          const ofLeaf = sums.get(place)
          const segment = findSegmentIndex(getPlacedLeaf(draft, place), standing)
          ofLeaf?.set(segment, (ofLeaf.get(segment) ?? 0) + by)
        })
      count(left, from, -1)
      count(entered, to, 1)
      for (const [place, ofLeaf] of sums) {
        const changed = [...ofLeaf].filter(([, by]) => by !== 0)
        if (changed.length === 0) continue
        const number = getLeafNumber(draft, place)
        const list = [...getLeaf(draft, number)]
        for (const [segment, by] of changed) {
          add(list, segment, by)
          add(root, place, by)
        }
        leaves.set(number, list)
      }
    },
    /** Cuts segments that are too long now, joins those that are short, and writes them. The current members are read. */
    settle: (): void => {
      const { leaves } = draft
      const touched = new Set(leaves.keys())
      for (const [number, list] of leaves) leaves.set(number, joinSmall(list, sizes))
      // Runs from the end, so that insertions and removals shift only entries that are done already.
      for (let place = root.length - 1; place >= 0; place--) {
        const number = root[place]?.[3]
        if (number === undefined || !touched.has(number)) continue
        cutLeaf(draft, place)
        spread(draft, place)
        const list = leaves.get(number)
        if (list !== undefined && list.length <= sizes.leaf / 4 && !join(draft, place)) join(draft, place - 1)
      }
      putTree(state, ranking, { root, leaves })
    },
    get count(): number {
      return countMembers(root)
    },
  }
}

type Leaf = readonly Segment[]

/** A tree while it is changed: its root, and the leaves that were read, by number. */
type Draft = {
  readonly state: State
  readonly ranking: RankingKey
  readonly sizes: SegmentSizes
  readonly root: Segment[]
  readonly leaves: Map<number, Leaf>
}

function getLeaf({ state, ranking, leaves }: Draft, number: number): Leaf {
  const draft = leaves.get(number)
  if (draft !== undefined) return draft
  const fresh = readLeaf(state, ranking, number) ?? lost(ranking, number)
  leaves.set(number, fresh)
  return fresh
}

const getLeafNumber = ({ root, ranking }: Draft, place: number): number => root[place]?.[3] ?? lost(ranking, place)

const getPlacedLeaf = (draft: Draft, place: number): Leaf => getLeaf(draft, getLeafNumber(draft, place))

const isLong = (segment: Segment, sizes: SegmentSizes): boolean => segment[2] > sizes.members

function cutLeaf(draft: Draft, place: number): void {
  const { root, leaves } = draft
  const number = root[place]?.[3]
  if (number === undefined) return
  const list = getLeaf(draft, number)
  if (!list.some(segment => isLong(segment, draft.sizes))) return
  const cut = list.flatMap((segment, at) => {
    if (!isLong(segment, draft.sizes)) return [segment]
    const after = getSegmentStart(segment)
    const next = list[at + 1] ?? root[place + 1]
    const until = next && getSegmentStart(next)
    const members = draft.state.members({ ...draft.ranking, ...(after && { after }), ...(until && { until }) })
    if (members.length !== segment[2])
      throw new Failure(
        'defect',
        `${named(draft.ranking)}: ${members.length} members are after ${segment[0]} "${segment[1]}", counted are ${segment[2]}.`,
      )
    return cutMembers(segment, members, draft.sizes)
  })
  leaves.set(number, cut)
}

/** Splits a leaf that is too long into several; the first part keeps its number. */
function spread(draft: Draft, place: number): void {
  const { root, leaves, sizes } = draft
  const list = getPlacedLeaf(draft, place)
  const number = root[place]?.[3]
  if (list.length <= sizes.leaf || number === undefined) return
  const parts = evenly(list.length, sizes.leaf / 2).map(([from, to]) => list.slice(from, to))
  const taken = new Set(root.map(segment => segment[3]))
  const entries = parts.map((part, at) => {
    // The least number from 1 that no leaf has.
    let own = at === 0 ? number : 1
    if (at > 0) while (taken.has(own)) own++
    taken.add(own)
    leaves.set(own, part)
    return toRootEntry(part, own)
  })
  root.splice(place, 1, ...entries)
}

/** Merges the next leaf into this one if both are short; the number of the next leaf becomes free. */
function join(draft: Draft, place: number): boolean {
  const { root, leaves, sizes } = draft
  const [own, next] = [root[place], root[place + 1]]
  if (own?.[3] === undefined || next?.[3] === undefined) return false
  if (Math.min(getLeaf(draft, own[3]).length, getLeaf(draft, next[3]).length) > sizes.leaf / 4) return false
  const list = [...getLeaf(draft, own[3]), ...getLeaf(draft, next[3])]
  if (list.length > sizes.leaf / 2) return false
  leaves.set(own[3], list)
  leaves.set(next[3], [])
  root.splice(place, 2, toRootEntry(list, own[3]))
  return true
}

/** Makes the tree of a ranking that has none; returns the number of its members. */
export function foundTree(state: State, ranking: RankingKey, sizes: SegmentSizes): number {
  const members = state.members(ranking)
  const list = cutMembers(TOP, members, sizes)
  const leaves = new Map(evenly(list.length, sizes.leaf / 2).map(([from, to], at) => [at + 1, list.slice(from, to)]))
  const root = [...leaves].map(([number, part]) => toRootEntry(part, number))
  putTree(state, ranking, { root, leaves })
  return members.length
}

/** Empties the tree of a ranking that has become small: documents are never deleted. */
export function dissolveTree(state: State, ranking: RankingKey): void {
  const root = readLeaf(state, ranking, 0) ?? lost(ranking, 0)
  const leaves = new Map(root.map(([, , , number = 0]) => [number, []]))
  putTree(state, ranking, { root: [], leaves })
}

/** Writes the leaves and the root that changed. */
function putTree(
  state: State,
  ranking: RankingKey,
  { root, leaves }: { readonly root: Leaf; readonly leaves: ReadonlyMap<number, Leaf> },
): void {
  for (const [number, list] of [...leaves, [0, root] as const]) {
    const before = readLeaf(state, ranking, number)
    if (before?.length === list.length && before.every((segment, at) => segment === list[at])) continue
    state.put(segments, { id: formatLeafId(ranking, number), segments: list })
  }
}

const formatLeafId = ({ index, group }: RankingKey, leaf: number): string => segmentsId(index.name, leaf, group ?? '')

const readLeaf = (state: State, ranking: RankingKey, leaf: number): Leaf | undefined =>
  state.get(segments, formatLeafId(ranking, leaf))?.segments

const named = ({ index, order, group = '' }: RankingKey): string => `${index.name}.${order} ${group}`

function lost(ranking: RankingKey, leaf: number): never {
  throw new Failure('defect', `${named(ranking)}: leaf ${leaf} of its segments is missing in the store.`)
}

function toRootEntry(list: Leaf, leaf: number): Segment {
  const [amount, name] = list[0] ?? TOP
  return [amount, name, countMembers(list), leaf]
}

function add(list: Segment[], at: number, by: number): void {
  const segment = list[at]
  if (segment === undefined) return
  const [amount, name, count, ...leaf] = segment
  list[at] = [amount, name, count + by, ...leaf]
}
