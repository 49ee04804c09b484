import { Type } from '@sinclair/typebox'
import { defineAction } from './define.ts'
import { requireNft } from './find/nfts.ts'
import { collection, tokenId } from './request/nft.ts'
import { nftFields, nftShown } from './shape/nfts.ts'
import { shape } from './shape/results.ts'

/** An NFT. */
export const getNftDetail = defineAction({
  module: 'nft',
  action: 'get-nft-detail',
  title: { en: 'NFT', zh: 'NFT 详情' },
  summary: {
    en: 'An NFT with its present owner and the metadata with which it was issued.',
    zh: 'NFT 的当前持有者与发行时写入的元数据。',
  },
  params: Type.Object({ collection: collection(), token_id: tokenId() }),
  result: shape(nftFields),
  run: async (context, { collection: symbol, token_id }) => nftShown(await requireNft(context, symbol, token_id)),
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { collection: 'nft_cats', token_id: '0' },
})
