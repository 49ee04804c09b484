import { Failure } from '#failure/failure.ts'
import type { DocOf, Order } from '#indices/define.ts'
import type { StateIndex } from '#indices/registry.ts'
import { SEGMENT_SIZES, type SegmentsDoc } from '#indices/segment.ts'
import { type Hints, type RankRange, rankingStart } from './ranking-start.ts'

/** The requested page: `limit` documents after the first `offset`; `group` if the order has groups. */
export type PageOptions = { readonly group?: string; readonly offset: number; readonly limit: number }

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

/** Rows skipped without finding the start of the page: a segment has as many, and these may be skipped too. */
const NEAR = SEGMENT_SIZES.members

/** A page of an order. */
export async function rankingPage<I extends StateIndex>(
  reads: RankingReads<I>,
  { index, order: name }: { readonly index: I; readonly order: string },
  options: PageOptions,
): Promise<readonly DocOf<I>[]> {
  const ranking = requireRanking({ index, order: name, group: options.group })
  const rows = await rowsOfPage(reads, ranking, options)
  return rows === undefined ? [] : reads.rows(ranking, rows)
}

/**
 * The range of a page's rows; undefined: beyond the end. The start of a deep page of a counted order is
 * computed from the segments, so that few rows are skipped.
 */
export async function rowsOfPage<I extends StateIndex>(
  reads: Pick<RankingReads<I>, 'segments' | 'hints'>,
  { index, name, order, group }: Ranking<I>,
  { offset, limit }: PageOptions,
): Promise<RankingRows | undefined> {
  for (const [option, value] of Object.entries({ offset, limit }))
    if (!Number.isSafeInteger(value) || value < 0)
      throw new Failure('defect', `${option} ${value} of order ${index.name}.${name} is not a count.`)
  if (!order.counted || offset <= NEAR) return { skip: offset, limit }
  const start = await rankingStart(reads, { index, group }, { offset, limit })
  return start === 'beyond' ? undefined : { ...start, limit }
}

type Named<I> = { readonly index: I; readonly order: string; readonly group?: string | undefined }

/** Throws 'defect' when the index has no such order, or when a group is missing or given to an order without groups. */
export function requireRanking<I extends StateIndex>({ index, order: name, group }: Named<I>): Ranking<I> {
  const order = (index.orders as Readonly<Record<string, Order>>)[name]
  if (order === undefined) throw new Failure('defect', `${index.name} has no order '${name}'.`)
  if ((order.group === undefined) !== (group === undefined))
    throw new Failure(
      'defect',
      `Order ${index.name}.${name} ${order.group === undefined ? 'has no group' : 'needs a group'}.`,
    )
  return { index, name, order, group }
}
