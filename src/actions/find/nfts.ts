import { type CollectionDoc, collections, type ItemDoc, itemId, items } from '#indices/token721.ts'
import { missingData } from '#store/failures.ts'
import type { View } from '#store/port.ts'
import type { Context } from '../define.ts'
import type { Parts } from './listing.ts'
import { unknown } from './loading.ts'
import { OVERFLOW_BUDGET, pageTooLong } from './record-texts.ts'

type LookupContext = Pick<Context, 'view' | 'node'>

/** A collection by its symbol. Throws 'not_found' or 'loading'. */
export async function requireCollection(context: LookupContext, symbol: string): Promise<CollectionDoc> {
  const found = await context.view.get(collections, symbol)
  if (found === undefined) throw unknown(context, 'collection', symbol)
  return found
}

/** Throws 'not_found' or 'loading'; if the collection does not exist, for the collection. */
export async function requireNft(context: LookupContext, symbol: string, number: string) {
  const id = itemId(symbol, number)
  const found = await context.view.get(items, id)
  if (found !== undefined) return found
  await requireCollection(context, symbol)
  throw unknown(context, 'nft', id)
}

/** Number of NFTs read at once. The metadata of each has at most 64 KB, the size limit of a transaction. */
const AT_ONCE = 64

/** A list in parts of NFTs that are read at once, for its export. */
export const inRunsOfNfts = <D>(docs: readonly D[]): Parts<D> => ({
  ahead: [],
  later: Array.from({ length: Math.ceil(docs.length / AT_ONCE) }, (_, run) =>
    docs.slice(run * AT_ONCE, (run + 1) * AT_ONCE),
  ),
})

/**
 * NFTs by their ids, in the same order. Nothing is truncated: a page with more metadata than an answer may have is
 * refused ('bad_request'), with the number of rows that would fit. Throws 'damaged' if an NFT is not stored.
 */
export async function readNfts(view: View, ids: readonly string[]): Promise<readonly ItemDoc[]> {
  const found: ItemDoc[] = []
  let bytes = 0
  for (const run of inRunsOfNfts(ids).later)
    for (const [at, doc] of (await view.getMany(items, run)).entries()) {
      if (doc === undefined) throw missingData(`NFT '${run[at]}' was issued, and has no document.`)
      bytes += Buffer.byteLength(doc.metadata)
      if (bytes > OVERFLOW_BUDGET) throw pageTooLong({ all: ids.length, read: found.length + 1 })
      found.push(doc)
    }
  return found
}
