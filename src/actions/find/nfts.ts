import { type CollectionDoc, collections, itemId, items } from '#indices/token721.ts'
import { missingData } from '#store/missing-data.ts'
import type { View } from '#store/port.ts'
import type { Context } from '../define.ts'
import { unknown } from './unknown.ts'

type Asked = Pick<Context, 'view' | 'node'>

/** A collection by its symbol. Throws 'not_found' or 'loading'. */
export const collectionOf = async (context: Asked, symbol: string): Promise<CollectionDoc> => {
  const found = await context.view.get(collections, symbol)
  if (found === undefined) throw unknown(context, 'collection', symbol)
  return found
}

/** An NFT by its collection and number. Throws 'not_found' or 'loading', for the collection where it is that which is not there. */
export const nftOf = async (context: Asked, symbol: string, number: string) => {
  const id = itemId(symbol, number)
  const found = await context.view.get(items, id)
  if (found !== undefined) return found
  await collectionOf(context, symbol)
  throw unknown(context, 'nft', id)
}

/** NFTs by their ids, in that order. Throws 'damaged' where one is not stored. */
export const nftsOf = async (view: View, ids: readonly string[]) =>
  (await view.getMany(items, ids)).map((doc, at) => {
    if (doc === undefined) throw missingData(`NFT '${ids[at]}' was issued, and has no document.`)
    return doc
  })
