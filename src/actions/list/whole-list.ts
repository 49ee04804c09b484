import type { DocOf } from '#indices/define.ts'
import type { StateIndex } from '#indices/registry.ts'
import type { View } from '#store/port.ts'
import type { Listing } from './list-rows.ts'

/** Number of documents fetched at once when all documents of an order are needed. */
const CHUNK = 1000

/** An order of an index; `group` restricts it to one group. */
export type IndexOrder<I extends StateIndex> = {
  readonly index: I
  readonly order: keyof I['orders'] & string
  readonly group?: string
}

/** All documents of an order, sorted. Only for orders that are short or promised whole. */
export async function wholeOrder<I extends StateIndex>(
  view: View,
  { index, order, ...group }: IndexOrder<I>,
): Promise<readonly DocOf<I>[]> {
  const docs: DocOf<I>[] = []
  for await (const part of orderInRuns(view, { index, order, ...group })) docs.push(...part)
  return docs
}

/** All documents of an order in chunks. */
export const orderInRuns = async function* <I extends StateIndex>(
  view: View,
  { index, order, ...group }: IndexOrder<I>,
): AsyncGenerator<readonly DocOf<I>[], void, void> {
  for (let offset = 0; ; offset += CHUNK) {
    const part = await view.page(index, order, { ...group, offset, limit: CHUNK })
    yield part
    if (part.length < CHUNK) return
  }
}

/**
 * The list of all documents of an order, `total` of them. `rowOf` makes the row of each, from its rank (1 is
 * the first).
 */
export const createOrderListing = <I extends StateIndex>(
  order: IndexOrder<I>,
  total: number,
  rowOf: (doc: DocOf<I>, rank: number) => unknown,
): Listing<Ranked<I>> => rankedListing(order, { total, sort: 'desc' }, rowOf)

/** Like `createOrderListing`, in the order (`desc`) or its exact reverse (`asc`). */
export const rankedListing = <I extends StateIndex>(
  { index, order, ...group }: IndexOrder<I>,
  { total, sort }: { readonly total: number; readonly sort: 'asc' | 'desc' },
  rowOf: (doc: DocOf<I>, rank: number) => unknown,
): Listing<Ranked<I>> => ({
  total,
  docs: async (view, offset, limit) => {
    const first = sort === 'desc' ? offset : total - offset - limit
    const docs = await view.page(index, order, { ...group, offset: first, limit })
    const ranked = docs.map((doc, at) => ({ doc, rank: first + at + 1 }))
    return sort === 'desc' ? ranked : ranked.toReversed()
  },
  rows: async (_view, docs) => ({ rows: docs.map(({ doc, rank }) => rowOf(doc, rank)) }),
})

type Ranked<I extends StateIndex> = { readonly doc: DocOf<I>; readonly rank: number }

/** The list of rows in memory, in their order. */
export const createMemoryListing = <R>(all: readonly R[], rowOf: (row: R) => unknown): Listing =>
  asRows({
    total: all.length,
    docs: async (_view, offset, limit) => all.slice(offset, offset + limit),
    rows: async (_view, docs) => ({ rows: docs.map(rowOf) }),
  })

/**
 * The same list with its rows created as its documents are read, so that lists of different documents have one type.
 */
export const asRows = <D>({ total, docs, rows }: Listing<D>): Listing => ({
  total,
  docs: async (view, offset, limit) => (await rows(view, await docs(view, offset, limit))).rows,
  rows: async (_view, made) => ({ rows: made }),
})
