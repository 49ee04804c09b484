import { toIso } from '#chain/time.ts'
import type { CollectionDoc } from '#indices/token721.ts'
import { count, createdAt, text, txHash } from './results.ts'

/** The fields of a collection of NFTs. */
export const collectionFields = {
  collection: text('Symbol of the collection.', '合集的符号。'),
  issuer: text('Account that may issue its NFTs.', '有权发行的账户。'),
  issued: count('Number of NFTs issued so far.', '已发行的 NFT 数量。'),
  total_supply: text('Largest number of NFTs that can be issued.', 'NFT 发行上限。'),
  created_at: createdAt(),
  tx_hash: txHash(),
}

/** A collection as it is shown. */
export const collectionShown = ({ symbol, issuer, issued, total_supply, time, tx_hash }: CollectionDoc) => ({
  collection: symbol,
  issuer,
  issued,
  total_supply: String(total_supply),
  created_at: toIso(time),
  tx_hash,
})
