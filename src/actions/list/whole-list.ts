import type { DocOf } from '#indices/define.ts'
import type { StateIndex } from '#indices/registry.ts'
import type { View } from '#store/port.ts'
import { offsetFor } from './paging.ts'

/** Documents fetched at once where all of an order are needed. */
const CHUNK = 1000

/** All documents of an order, in it. Only for orders that are short or promised whole. */
export const wholeOrder = async <I extends StateIndex>(
  view: View,
  index: I,
  order: keyof I['orders'] & string,
  group?: string,
): Promise<readonly DocOf<I>[]> => {
  const docs: DocOf<I>[] = []
  for (;;) {
    const part = await view.page(index, order, {
      ...(group === undefined ? {} : { group }),
      offset: docs.length,
      limit: CHUNK,
    })
    docs.push(...part)
    if (part.length < CHUNK) return docs
  }
}

/** One page of an order of `total` documents; [] beyond its end. */
export const pageOfOrder = async <I extends StateIndex>(
  view: View,
  index: I,
  order: keyof I['orders'] & string,
  part: {
    readonly group?: string
    readonly page: bigint
    readonly size: number
    readonly total: number
  },
): Promise<readonly DocOf<I>[]> => {
  const offset = offsetFor(part.page, part.size)
  if (offset === undefined || offset >= part.total) return []
  return view.page(index, order, {
    ...(part.group === undefined ? {} : { group: part.group }),
    offset,
    limit: part.size,
  })
}
