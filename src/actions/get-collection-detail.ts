import { Type } from '@sinclair/typebox'
import { defineAction } from './define.ts'
import { requireCollection } from './find/nfts.ts'
import { collection } from './request/nft.ts'
import { collectionFields, collectionShown } from './shape/collections.ts'
import { shape } from './shape/results.ts'

/** A collection of NFTs. */
export const getCollectionDetail = defineAction({
  module: 'nft',
  action: 'get-collection-detail',
  title: { en: 'NFT collection', zh: 'NFT 合集详情' },
  summary: {
    en: 'An NFT collection: its issuer, how many NFTs were issued and how many can be, and its creation.',
    zh: 'NFT 合集：发行者、已发行数量与最大供应量，以及创建信息。',
  },
  params: Type.Object({ collection: collection() }),
  result: shape(collectionFields),
  run: async (context, { collection: symbol }) => collectionShown(await requireCollection(context, symbol)),
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { collection: 'nft_cats' },
})
