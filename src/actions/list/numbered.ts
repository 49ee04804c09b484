import type { Context } from '../define.ts'
import { refuseBeyondLoaded } from '../find/loading.ts'
import type { Range } from '../request/range.ts'
import { ordinalOf } from './after.ts'
import type { Listing } from './list-rows.ts'
import type { Numbered, NumberedList } from './numbered-list.ts'
import { rowsWithin } from './range-of-rows.ts'
import type { RowId } from './row-id.ts'

/** A range of a list in an order; `after`: behind a row in that order. */
export type RangeInOrder = Range & { readonly sort: 'asc' | 'desc'; readonly after?: RowId | undefined }

/**
 * The rows of a list within a range, in the requested order. They are those of the height of the context, also when they
 * are read at a later one. Throws 'loading' for a range beyond the loaded blocks or rows.
 */
export const numberedRows = async <D>(
  context: Pick<Context, 'view' | 'node' | 'head' | 'clock'>,
  list: NumberedList<D>,
  { sort, after, ...given }: RangeInOrder,
): Promise<Pick<Listing<Numbered<D>>, 'total' | 'stored' | 'docs' | 'followed' | 'idOf'>> => {
  const { view } = context
  const { count, above, end = view.at } = list
  const stored = above?.stored ?? count
  refuseBeyondLoaded(context, given, count)
  const range = after === undefined ? given : behind(given, sort, await ordinalOf(context, list, after))
  const look = (ordinals: readonly number[]) => list.moments(view, ordinals)
  const { before, total } = await rowsWithin({ count, look }, range, end)
  return {
    total,
    stored,
    followed: list.followed,
    idOf: ({ doc }) => list.idOf(doc),
    docs: async (later, offset, limit) => {
      const first = before + 1 + (sort === 'asc' ? offset : total - offset - limit)
      const docs = await list.docs(later, first, first + limit - 1)
      const rows = docs.map((doc, at): Numbered<D> => {
        const seq = first + at
        return above === undefined || seq <= stored ? { seq, doc } : { seq, doc, above: above.blockOf(seq) }
      })
      return sort === 'asc' ? rows : rows.toReversed()
    },
  }
}

/** A range without the rows up to one, in an order. */
const behind = (range: Range, sort: 'asc' | 'desc', ordinal: number): Range => {
  const { start_seq = 0n, end_seq } = range
  if (sort === 'asc') return { ...range, start_seq: max(start_seq, BigInt(ordinal + 1)) }
  const last = BigInt(ordinal - 1)
  return { ...range, end_seq: end_seq === undefined || end_seq > last ? last : end_seq }
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
