import { toIso } from '#chain/time.ts'
import type { CollectionDoc } from '#indices/token721.ts'
import { count, defineCreatedTime, text, txHash } from './results.ts'

/** The fields of a collection of NFTs. */
export const collectionFields = {
  collection: text('Symbol of the collection.', '合集的符号。'),
  issuer: text('Account that may issue its NFTs.', '有权发行其 NFT 的账户。'),
  issued: count('Number of NFTs issued so far.', '已发行的 NFT 数量。'),
  owner_count: count('Number of owners of its NFTs.', '其 NFT 的持有者数。'),
  total_supply: text('Maximum number of NFTs that can be issued.', 'NFT 最大供应量。'),
  created_at: defineCreatedTime(),
  tx_hash: txHash(),
}

/** A collection in the form of an answer. */
export const collectionShown = (doc: CollectionDoc) => ({
  collection: doc.symbol,
  issuer: doc.issuer,
  issued: doc.issued,
  owner_count: doc.owner_count,
  total_supply: String(doc.total_supply),
  created_at: toIso(doc.time),
  tx_hash: doc.tx_hash,
})
