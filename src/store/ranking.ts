import { Failure } from '#failure/failure.ts'
import type { DocOf, Order } from '#indices/define.ts'
import type { StateIndex } from '#indices/registry.ts'
import { findSegment, SEGMENT_SIZES, type Segment, type SegmentsDoc, segmentsId } from '#indices/segment.ts'
import { getSegmentStart, type Standing } from '#indices/standing.ts'
import { missingData } from './failures.ts'

/** Recently read roots. The leaf they lead to is requested along with the root, and is usually right. */
export type Hints = Map<string, readonly Segment[]>

export type RankRange = {
  /** The standing right before the range; undefined: the range begins at the top. */
  readonly after?: Standing | undefined
  /** The end of the range or a later standing; undefined: the ranking's end. */
  readonly until?: Standing | undefined
  /** Upper bound of the members before the range with the amount of `after`; Infinity: too many to count. */
  readonly tied: number
}

/**
 * The range of the members from `offset` on, and the number `skip` of its members before them; no range if
 * the group has no segments. 'beyond': the group has no such member. Throws 'damaged' when segments lack
 * members that their root counts.
 */
async function rankingStart<I extends StateIndex>(
  { segments: read, hints = new Map() }: Pick<RankingReads<I>, 'segments' | 'hints'>,
  { index, group = '' }: Pick<Ranking<I>, 'index' | 'group'>,
  { offset, limit }: PageOptions,
): Promise<{ readonly range?: RankRange; readonly skip: number } | 'beyond'> {
  const idOf = (leaf: number): string => segmentsId(index.name, leaf, group)
  const guessed = findSegment(hints.get(idOf(0)) ?? [], offset)?.segment[3]
  const [root, guess] = await read([idOf(0), ...(guessed === undefined ? [] : [idOf(guessed)])])
  if (root === undefined || root.segments.length === 0) return { skip: offset }
  remember(hints, idOf(0), root.segments)
  const inRoot = findSegment(root.segments, offset)
  if (inRoot === undefined) return 'beyond'
  const leaf = inRoot.segment[3] ?? 0
  const doc = leaf === guessed ? guess : (await read([idOf(leaf)]))[0]
  const found = findSegment(doc?.segments ?? [], inRoot.skip)
  if (doc === undefined || found === undefined) throw missingData(`Segments of ${index.name} ${group} do not add up.`)
  const at = doc.segments.indexOf(found.segment)
  const rootAt = root.segments.indexOf(inRoot.segment)
  // After the leaf the segments of the root follow. They are coarser, but good enough as an upper end.
  const following = [...doc.segments.slice(at), ...root.segments.slice(rootAt + 1)]
  const range = {
    after: getSegmentStart(found.segment),
    until: findSegmentEnd(following, found.skip + limit),
    tied: countTiedMembers([...root.segments.slice(0, rootAt), ...doc.segments.slice(0, at)], found.segment),
  }
  return { range, skip: found.skip }
}

/** The end of the segment that contains the last of `members` members; undefined: the end of the list. */
function findSegmentEnd(list: readonly Segment[], members: number): Standing | undefined {
  let held = 0
  for (const [at, [, , count]] of list.entries()) {
    held += count
    const next = list[at + 1]
    if (held >= members) return next === undefined ? undefined : getSegmentStart(next)
  }
  return undefined
}

/** Members of the segments in the tie in which this segment begins, and of the segment where the tie begins. */
function countTiedMembers(before: readonly Segment[], [amount]: Segment): number {
  let tied = 0
  for (const [begin, , count] of before.toReversed()) {
    tied += count
    if (begin !== amount) break
  }
  return tied
}

function remember(hints: Hints, id: string, root: readonly Segment[]): void {
  hints.delete(id)
  hints.set(id, root)
  const [oldest] = hints.keys()
  // Each root has some KB.
  if (hints.size > 200 && oldest !== undefined) hints.delete(oldest)
}

/** The requested page: `limit` documents after the first `offset`; `group` if the order has groups. */
type PageOptions = { readonly group?: string; readonly offset: number; readonly limit: number }

/** An order of an index, within one group if the order has groups. */
export type Ranking<I extends StateIndex> = {
  readonly index: I
  readonly name: string
  readonly order: Order
  readonly group: string | undefined
}

/** Rows of a ranking, best first: `limit` rows after the first `skip` of a range (absent: of all). */
export type RankingRows = { readonly range?: RankRange; readonly skip: number; readonly limit: number }

/** The two reads that a store provides, both at one height. */
export type RankingReads<I extends StateIndex> = {
  /** Documents of `segments`, in the order of their ids. */
  readonly segments: (ids: readonly string[]) => Promise<readonly (SegmentsDoc | undefined)[]>
  readonly rows: (ranking: Ranking<I>, rows: RankingRows) => Promise<readonly DocOf<I>[]>
  /** For stores that read by requests: recently read roots, so that most pages read segments only once. */
  readonly hints?: Hints
}

export async function rankingPage<I extends StateIndex>(
  reads: RankingReads<I>,
  { index, order: name }: { readonly index: I; readonly order: string },
  options: PageOptions,
): Promise<readonly DocOf<I>[]> {
  const ranking = requireRanking({ index, order: name, group: options.group })
  const rows = await planPage(reads, ranking, options)
  return rows === undefined ? [] : reads.rows(ranking, rows)
}

/**
 * The range of a page's rows; undefined: beyond the end. The start of a deep page of a counted order is
 * computed from the segments, so that few rows are skipped.
 */
export async function planPage<I extends StateIndex>(
  reads: Pick<RankingReads<I>, 'segments' | 'hints'>,
  { index, name, order, group }: Ranking<I>,
  { offset, limit }: PageOptions,
): Promise<RankingRows | undefined> {
  for (const [option, value] of Object.entries({ offset, limit }))
    if (!Number.isSafeInteger(value) || value < 0)
      throw new Failure('defect', `${option} ${value} of order ${index.name}.${name} is not a count.`)
  // As many rows as a segment has may be skipped in either case.
  if (!order.counted || offset <= SEGMENT_SIZES.members) return { skip: offset, limit }
  const start = await rankingStart(reads, { index, group }, { offset, limit })
  return start === 'beyond' ? undefined : { ...start, limit }
}

/** Throws 'defect' when the index has no such order, or when a group is missing or given to an order without groups. */
export function requireRanking<I extends StateIndex>({
  index,
  order: name,
  group,
}: {
  readonly index: I
  readonly order: string
  readonly group?: string | undefined
}): Ranking<I> {
  const order = (index.orders as Readonly<Record<string, Order>>)[name]
  if (order === undefined) throw new Failure('defect', `${index.name} has no order '${name}'.`)
  if ((order.group === undefined) !== (group === undefined))
    throw new Failure(
      'defect',
      `Order ${index.name}.${name} ${order.group === undefined ? 'has no group' : 'needs a group'}.`,
    )
  return { index, name, order, group }
}
