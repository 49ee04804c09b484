import { toIso } from '#chain/time.ts'
import type { CollectionDoc, ItemDoc } from '#indices/token721.ts'
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

/** The fields of an NFT. */
export const nftFields = {
  collection: text('Symbol of its collection.', '所属合集的符号。'),
  token_id: text('Id in the collection: its number, from 0.', '合集内的 ID，即编号，从 0 开始。'),
  owner: text('Account or contract that owns it.', '拥有该 NFT 的账户或合约。'),
  metadata: text(
    'Metadata as it was issued, often JSON or an address; never checked or changed.',
    '发行时写入的元数据，通常为 JSON 或网址；未经校验，原样返回。',
  ),
  block: count('Height of the block in which it was issued.', '发行所在的区块高度。'),
  created_at: defineCreatedTime(),
  tx_hash: txHash(),
}

/** An NFT in the form of an answer. */
export function nftShown({ id, owner, metadata, height, time, tx_hash }: ItemDoc) {
  const slash = id.lastIndexOf('/')
  return {
    collection: id.slice(0, slash),
    token_id: id.slice(slash + 1),
    owner,
    metadata,
    block: height,
    created_at: toIso(time),
    tx_hash,
  }
}
