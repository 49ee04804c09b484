import { Failure } from '#failure/failure.ts'
import { balances } from '#indices/balance.ts'
import { producers } from '#indices/producer.ts'
import type { StateIndex } from '#indices/registry.ts'
import { SEGMENT_SIZES, type Segment, type SegmentSizes, segments, segmentsId } from '#indices/segment.ts'
import {
  compareStandings,
  createRangeTest,
  findCountedOrder,
  findStanding,
  getSegmentStart,
  isEarlierSegment,
  LAST_NAME,
  type Standing,
  type StandingRange,
} from '#indices/standing.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { tokens } from '#indices/token.ts'
import { collectionOwners, collections, countOfItems, holdings } from '#indices/token721.ts'
import { votes } from '#indices/vote.ts'
import { wealth } from '#indices/wealth.ts'
import type { State } from './state.ts'

type Doc = { readonly id: string }
type Moves = { readonly left: Standing[]; readonly entered: Standing[] }
/** A ranking: all members of a counted order that share a group. */
type RankingKey = Pick<StandingRange, 'index' | 'order' | 'group'>

/** State that remembers the ranked documents as of the block's start. */
export function createRankedState(state: State, sizes: SegmentSizes = SEGMENT_SIZES) {
  const touched = new Map<StateIndex, Map<string, Doc | undefined>>()
  const remember = (index: StateIndex, id: string, was: Doc | undefined): void => {
    if (findCountedOrder(index) === undefined) return
    const before = touched.get(index)
    if (before === undefined) touched.set(index, new Map([[id, was]]))
    else if (!before.has(id)) before.set(id, was)
  }
  return {
    state: {
      ...state,
      put: (index, doc) => {
        const was = state.put(index, doc)
        remember(index, doc.id, was)
        return was
      },
      add: (index, doc) => {
        state.add(index, doc)
        remember(index, doc.id, undefined)
      },
    } satisfies State,
    /** Ends the block after everything else was written: counts its moves in the segments of large rankings. */
    settle: (): void => {
      for (const [index, before] of touched) {
        const order = findCountedOrder(index)
        if (order === undefined) continue
        for (const [group, moves] of groupMoves(order, before, id => state.get(index, id))) {
          const ranking = { index, order: order.name, ...(group !== undefined && { group }) }
          settleRanking({ state, ranking, sizes }, moves)
        }
      }
    },
  }
}

/** Moves by group (undefined: the order has none): the standings that members left, and those they entered. */
function groupMoves(
  order: NonNullable<ReturnType<typeof findCountedOrder>>,
  touched: ReadonlyMap<string, Doc | undefined>,
  current: (id: string) => Doc | undefined,
): ReadonlyMap<string | undefined, Moves> {
  const groups = new Map<string | undefined, Moves>()
  for (const [id, before] of touched) {
    const now = current(id)
    if (now === undefined) continue
    const from = findStanding(order, before)
    const to = findStanding(order, now)
    if (isSameStanding(from, to)) continue
    const group = order.group === undefined ? undefined : (Reflect.get(now, order.group) as string)
    const moves = groups.get(group) ?? { left: [], entered: [] }
    groups.set(group, moves)
    if (from !== undefined) moves.left.push(from)
    if (to !== undefined) moves.entered.push(to)
  }
  return groups
}

function isSameStanding(one: Standing | undefined, other: Standing | undefined): boolean {
  return one === undefined || other === undefined ? one === other : compareStandings(one, other) === 0
}

type Place = { readonly state: State; readonly ranking: RankingKey; readonly sizes: SegmentSizes }

function settleRanking(place: Place, { left, entered }: Moves): void {
  const { state, ranking, sizes } = place
  const size = getRankingSize(state, ranking)
  const before = size - entered.length + left.length
  if (size <= sizes.group) {
    if (before > sizes.group) dissolveTree(place)
    return
  }
  if (before <= sizes.group) {
    requireRankingCount(ranking, createTree(place), size)
    return
  }
  const tree = { ...place, root: [...readLeaf(place, 0)], leaves: new Map<number, Segment[]>() }
  for (const standing of left) countMember(tree, standing, -1)
  for (const standing of entered) countMember(tree, standing, 1)
  requireRankingCount(ranking, countMembers(tree.root), size)
  settleTree(tree)
}

/** The total of the list, from its own counter: segments that disagree with it would show wrong pages. */
function getRankingSize(state: State, { index, group = '' }: RankingKey): number {
  switch (index) {
    case balances:
      return state.get(tokens, group)?.holder_count ?? 0
    case votes:
      return state.get(producers, group)?.voter_count ?? 0
    case holdings:
      return state.get(holdings, countOfItems(group))?.count ?? 0
    case collectionOwners:
      return state.get(collections, group)?.owner_count ?? 0
    case collections:
      return state.get(statistics, STATISTICS)?.collection_count ?? 0
    case tokens:
      return state.get(statistics, STATISTICS)?.token_count ?? 0
    case producers:
      return state.get(statistics, STATISTICS)?.producer_count ?? 0
    case wealth:
      return state.get(statistics, STATISTICS)?.wealth_count ?? 0
    default:
      throw new TypeError(`${index.name} has no counter.`)
  }
}

function requireRankingCount(ranking: RankingKey, counted: number, size: number): void {
  if (counted !== size)
    throw new Failure('defect', `${formatRanking(ranking)} has ${size} members, in segments ${counted}.`)
}

/** Documents of a range after changes: without those that left it, with those that entered it. */
export function withChanges<D extends Doc>(
  range: StandingRange,
  docs: Iterable<D>,
  changed: Iterable<D>,
): ReadonlyMap<string, D> {
  const order = findCountedOrder(range.index)
  const isMember = order === undefined ? () => false : createRangeTest(order, range)
  const now = new Map<string, D>()
  for (const doc of docs) now.set(doc.id, doc)
  for (const doc of changed) {
    if (isMember(doc)) now.set(doc.id, doc)
    else now.delete(doc.id)
  }
  return now
}

type Leaf = readonly Segment[]

/** The tree of a ranking while it is changed: its root, and the leaves that were read, by number. */
type Tree = Place & { readonly root: Segment[]; readonly leaves: Map<number, Segment[]> }

/** Adds a member to the segment with its standing, or removes one: most changes need no more. */
function countMember(tree: Tree, standing: Standing, by: 1 | -1): void {
  const place = findSegmentIndex(tree.root, standing)
  const leaf = getPlacedLeaf(tree, place)
  for (const [list, at] of [[tree.root, place] as const, [leaf, findSegmentIndex(leaf, standing)] as const]) {
    const [amount, name, count, ...number] = list[at] ?? TOP
    list[at] = [amount, name, count + by, ...number]
  }
}

/**
 * Cuts segments that are too long now, joins those that are short, and writes them. The current members are read. The
 * result depends only on the block's moves.
 */
function settleTree(tree: Tree): void {
  const { root, leaves, sizes } = tree
  const touched = new Set(leaves.keys())
  for (const [number, list] of leaves) leaves.set(number, joinSmall(list, sizes))
  // Runs from the end, so that insertions and removals shift only entries that are done already.
  for (let place = root.length - 1; place >= 0; place--) {
    const number = root[place]?.[3]
    if (number === undefined || !touched.has(number)) continue
    leaves.set(number, cutLeaf(tree, place))
    splitLeaf(tree, place)
    if (getLeaf(tree, number).length <= sizes.leaf / 4 && !joinLeaves(tree, place)) joinLeaves(tree, place - 1)
  }
  putTree(tree, { root, leaves })
}

/** A leaf as it is now, to be changed in place. */
function getLeaf(tree: Tree, number: number): Segment[] {
  const leaf = tree.leaves.get(number) ?? [...readLeaf(tree, number)]
  tree.leaves.set(number, leaf)
  return leaf
}

/** The leaf at a place of the root. */
function getPlacedLeaf(tree: Tree, place: number): Segment[] {
  return getLeaf(tree, tree.root[place]?.[3] ?? failMissing(tree, place))
}

/** Cuts the segments of a leaf that are too long, by their current members. */
function cutLeaf(tree: Tree, place: number): Segment[] {
  const { state, ranking, sizes, root } = tree
  const list = getPlacedLeaf(tree, place)
  if (!list.some(segment => segment[2] > sizes.members)) return list
  return list.flatMap((segment, at) => {
    if (segment[2] <= sizes.members) return [segment]
    const after = getSegmentStart(segment)
    const next = list[at + 1] ?? root[place + 1]
    const until = next && getSegmentStart(next)
    const members = state.members({ ...ranking, ...(after && { after }), ...(until && { until }) })
    if (members.length !== segment[2])
      throw new Failure(
        'defect',
        `${formatRanking(ranking)}: ${members.length} members are after ${segment[0]} "${segment[1]}", counted are ${segment[2]}.`,
      )
    return cutMembers(segment, members, sizes)
  })
}

/** Splits a leaf that is too long into several; the first part keeps its number. */
function splitLeaf(tree: Tree, place: number): void {
  const { root, leaves, sizes } = tree
  const list = getPlacedLeaf(tree, place)
  if (list.length <= sizes.leaf) return
  const taken = new Set(root.map(segment => segment[3]))
  const entries = divideEvenly(list.length, sizes.leaf / 2).map(([from, to], at) => {
    // The least number from 1 that no leaf has.
    let number = at === 0 ? (root[place]?.[3] ?? 1) : 1
    while (at > 0 && taken.has(number)) number++
    taken.add(number)
    const part = list.slice(from, to)
    leaves.set(number, part)
    return toRootEntry(part, number)
  })
  root.splice(place, 1, ...entries)
}

/** Merges the next leaf into this one if both are short; the number of the next leaf becomes free. */
function joinLeaves(tree: Tree, place: number): boolean {
  const { root, leaves, sizes } = tree
  const [own, next] = [root[place]?.[3], root[place + 1]?.[3]]
  if (own === undefined || next === undefined) return false
  const [first, second] = [getLeaf(tree, own), getLeaf(tree, next)]
  if (Math.min(first.length, second.length) > sizes.leaf / 4) return false
  const list = [...first, ...second]
  if (list.length > sizes.leaf / 2) return false
  leaves.set(own, list)
  leaves.set(next, [])
  root.splice(place, 2, toRootEntry(list, own))
  return true
}

/** Makes the tree of a ranking that has none; returns the number of its members. */
function createTree(place: Place): number {
  const { state, ranking, sizes } = place
  const members = state.members(ranking)
  const list = cutMembers(TOP, members, sizes)
  const leaves = new Map(
    divideEvenly(list.length, sizes.leaf / 2).map(([from, to], at) => [at + 1, list.slice(from, to)]),
  )
  putTree(place, { root: [...leaves].map(([number, part]) => toRootEntry(part, number)), leaves })
  return members.length
}

/** Empties the tree of a ranking that has become small: documents are never deleted. */
function dissolveTree(place: Place): void {
  const leaves = new Map(readLeaf(place, 0).map(([, , , number = 0]) => [number, []]))
  putTree(place, { root: [], leaves })
}

/** Writes the leaves and the root that changed. */
function putTree(
  { state, ranking }: Place,
  { root, leaves }: { readonly root: Leaf; readonly leaves: ReadonlyMap<number, Leaf> },
): void {
  for (const [number, list] of [...leaves, [0, root] as const]) {
    const id = formatLeafId(ranking, number)
    const before = state.get(segments, id)?.segments
    if (before?.length === list.length && before.every((segment, at) => isSameSegment(segment, list[at]))) continue
    state.put(segments, { id, segments: list })
  }
}

/** The same array in most cases: a segment that a block does not change is not copied. */
function isSameSegment(one: Segment, other: Segment | undefined): boolean {
  return one === other || one.every((part, at) => part === other?.[at])
}

const formatLeafId = ({ index, group }: RankingKey, leaf: number): string => segmentsId(index.name, leaf, group ?? '')

const readLeaf = (place: Place, leaf: number): Leaf =>
  place.state.get(segments, formatLeafId(place.ranking, leaf))?.segments ?? failMissing(place, leaf)

const formatRanking = ({ index, order, group = '' }: RankingKey): string => `${index.name}.${order} ${group}`

function failMissing({ ranking }: Place, leaf: number): never {
  throw new Failure('defect', `${formatRanking(ranking)}: leaf ${leaf} of its segments is missing in the store.`)
}

/** The segment from which a ranking begins. */
const TOP: Segment = ['', '', 0]

function toRootEntry(list: Leaf, leaf: number): Segment {
  const [amount, name] = list[0] ?? TOP
  return [amount, name, countMembers(list), leaf]
}

const countMembers = (list: Leaf): number => list.reduce((sum, [, , count]) => sum + count, 0)

/** Index of the segment with a standing; `list` covers the whole ranking, or the run with that standing. */
function findSegmentIndex(list: Leaf, { amount, name }: Standing): number {
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
  divideEvenly(members.length, sizes.members / 2).map(([from, to]): Segment => {
    const last = members[from - 1]
    if (last === undefined) return [amount, name, to - from]
    const isTie = members[from]?.amount === last.amount
    return [String(last.amount), isTie ? last.name : LAST_NAME, to - from]
  })

/** Joins neighbours that together have at most half the maximum length. */
function joinSmall(list: Segment[], sizes: SegmentSizes): Segment[] {
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
function divideEvenly(length: number, target: number): readonly (readonly [from: number, to: number])[] {
  const parts = Math.max(1, Math.floor(length / target))
  const at = (part: number): number => Math.floor((part * length) / parts)
  return Array.from({ length: parts }, (_, part) => [at(part), at(part + 1)] as const)
}
