import type { DocOf } from '#indices/define.ts'
import type { StateIndex } from '#indices/registry.ts'
import type { View } from '#store/port.ts'
import { offsetFor } from './paging.ts'

/** Documents fetched at once where all of an order are needed. */
const CHUNK = 1000

/** An order of an index; with `group` only its documents. */
export type Order<I extends StateIndex> = {
  readonly index: I
  readonly order: keyof I['orders'] & string
  readonly group?: string
}

/** All documents of an order, in it. Only for orders that are short or promised whole. */
export const wholeOrder = async <I extends StateIndex>(
  view: View,
  { index, order, ...group }: Order<I>,
): Promise<readonly DocOf<I>[]> => {
  const docs: DocOf<I>[] = []
  for (;;) {
    const part = await view.page(index, order, { ...group, offset: docs.length, limit: CHUNK })
    docs.push(...part)
    if (part.length < CHUNK) return docs
  }
}

/** One page of an order of `total` documents; [] beyond its end. */
export const pageOfOrder = async <I extends StateIndex>(
  view: View,
  { index, order, ...group }: Order<I>,
  { page, size, total }: { readonly page: bigint; readonly size: number; readonly total: number },
): Promise<readonly DocOf<I>[]> => {
  const offset = offsetFor(page, size)
  if (offset === undefined || offset >= total) return []
  return view.page(index, order, { ...group, offset, limit: size })
}
