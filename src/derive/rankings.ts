import { Failure } from '#failure/failure.ts'
import { balances } from '#indices/balance.ts'
import type { Index } from '#indices/define.ts'
import { producers } from '#indices/producer.ts'
import type { StateIndex } from '#indices/registry.ts'
import { SEGMENT_SIZES, type SegmentSizes } from '#indices/segment.ts'
import {
  compareStandings,
  createRangeTest,
  findCountedOrder,
  findStanding,
  type Standing,
  type StandingRange,
} from '#indices/standing.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { tokens } from '#indices/token.ts'
import { collectionOwners, collections, countOfItems, holdings } from '#indices/token721.ts'
import { votes } from '#indices/vote.ts'
import { wealth } from '#indices/wealth.ts'
import { dissolveTree, foundTree, openTree, type RankingKey } from './segment-tree.ts'
import type { State } from './state.ts'

type Doc = { readonly id: string }
type Moves = { readonly left: Standing[]; readonly entered: Standing[] }

/** State that remembers the ranked documents as of the block's start. */
export function rankedState(state: State, sizes: SegmentSizes = SEGMENT_SIZES) {
  const touched = new Map<StateIndex, Map<string, Doc | undefined>>()
  const remember = (index: StateIndex, id: string, was: Doc | undefined): void => {
    const before = touched.get(index)
    if (before === undefined) touched.set(index, new Map([[id, was]]))
    else if (!before.has(id)) before.set(id, was)
  }
  return {
    state: {
      ...state,
      put: (index, doc) => {
        const was = state.put(index, doc)
        if (findCounted(index) !== undefined) remember(index, doc.id, was)
        return was
      },
      add: (index, doc) => {
        state.add(index, doc)
        if (findCounted(index) !== undefined) remember(index, doc.id, undefined)
      },
    } satisfies State,
    /** Ends the block after everything else was written: counts its moves in the segments of large rankings. */
    settle: (): void => {
      for (const [index, before] of touched) {
        const counted = findCounted(index)
        if (counted === undefined) continue
        for (const [group, moves] of groupMoves(counted, before, id => state.get(index, id))) {
          const ranking = { index, order: counted.order, ...(counted.grouped ? { group } : {}) }
          settleRanking({ state, sizes }, ranking, moves)
        }
      }
    },
  }
}

/** Moves by group: the standings that members left, and those they entered. */
function groupMoves(
  counted: CountedIndex,
  touched: ReadonlyMap<string, Doc | undefined>,
  current: (id: string) => Doc | undefined,
): ReadonlyMap<string, Moves> {
  const groups = new Map<string, Moves>()
  for (const [id, before] of touched) {
    const now = current(id)
    if (now === undefined) continue
    const from = counted.standingOf(before)
    const to = counted.standingOf(now)
    if (from === undefined || to === undefined ? from === to : compareStandings(from, to) === 0) continue
    const group = counted.groupOf(now)
    const moves = groups.get(group) ?? { left: [], entered: [] }
    groups.set(group, moves)
    if (from !== undefined) moves.left.push(from)
    if (to !== undefined) moves.entered.push(to)
  }
  return groups
}

function settleRanking(
  { state, sizes }: { readonly state: State; readonly sizes: SegmentSizes },
  ranking: RankingKey,
  moves: Moves,
): void {
  const size = getRankingSize(state, ranking)
  const before = size - moves.entered.length + moves.left.length
  if (size <= sizes.group) {
    if (before > sizes.group) dissolveTree(state, ranking)
    return
  }
  if (before <= sizes.group) {
    requireRankingCount(ranking, foundTree(state, ranking, sizes), size)
    return
  }
  const tree = openTree(state, ranking, sizes)
  tree.move(moves.left, moves.entered)
  requireRankingCount(ranking, tree.count, size)
  tree.settle()
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

function requireRankingCount({ index, order, group = '' }: RankingKey, counted: number, size: number): void {
  if (counted !== size)
    throw new Failure('defect', `${index.name}.${order} ${group} has ${size} members, in segments ${counted}.`)
}

/** The counted order of an index, applied to its documents. */
type CountedIndex = {
  readonly order: string
  readonly grouped: boolean
  /** `''` if the order has no groups. */
  readonly groupOf: (doc: Doc) => string
  /** undefined: the document is in the index, but not in the ranking. */
  readonly standingOf: (doc: Doc | undefined) => Standing | undefined
  readonly within: (range: StandingRange) => (doc: Doc) => boolean
}

const known = new Map<Index, CountedIndex | undefined>()

/** The counted order of an index; undefined: it has none. */
export function findCounted(index: Index): CountedIndex | undefined {
  if (known.has(index)) return known.get(index)
  const order = findCountedOrder(index)
  const group = order?.group
  const counted: CountedIndex | undefined = order && {
    order: order.name,
    grouped: group !== undefined,
    groupOf: doc => (group === undefined ? '' : (Reflect.get(doc, group) as string)),
    standingOf: doc => (doc === undefined ? undefined : findStanding(order, doc)),
    within: range => createRangeTest(order, range),
  }
  known.set(index, counted)
  return counted
}

/** Documents of a range after changes: without those that left it, with those that entered it. */
export function withChanges<D extends Doc>(
  range: StandingRange,
  docs: Iterable<D>,
  changed: Iterable<D>,
): ReadonlyMap<string, D> {
  const isMember = findCounted(range.index)?.within(range) ?? (() => false)
  const now = new Map<string, D>()
  for (const doc of docs) now.set(doc.id, doc)
  for (const doc of changed) {
    if (isMember(doc)) now.set(doc.id, doc)
    else now.delete(doc.id)
  }
  return now
}
