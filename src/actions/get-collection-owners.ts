import { Type } from '@sinclair/typebox'
import { collectionOwners, collections } from '#indices/token721.ts'
import { requireCollection } from './find/nfts.ts'
import { defineList } from './list/paging.ts'
import { createOrderListing } from './list/whole-list.ts'
import { collection } from './request/nft.ts'
import { paging } from './request/parameter-types.ts'
import { count, listOfRows, shape, text } from './shape/results.ts'

const row = shape({
  account: text('Account or contract.', '账户或合约。'),
  count: count('Number of NFTs of the collection that it owns.', '拥有的该合集 NFT 数量。'),
})

/** The owners of a collection's NFTs. */
export const getCollectionOwners = defineList({
  module: 'nft',
  action: 'get-collection-owners',
  title: { en: 'Owners of a collection', zh: '合集的持有者' },
  summary: {
    en: 'The present owners of the NFTs of a collection and how many each has, most first, then by name. Gifts and purchases inside contracts are included.',
    zh: '合集中 NFT 的当前持有者及各自拥有的数量，从多到少排列，数量相同时按名称排列。包括在合约内部的赠与和购买。',
  },
  params: Type.Object({ collection: collection(), ...paging }),
  result: listOfRows('owners', row, { en: 'Owners of this page.', zh: '持有者列表。' }),
  list: 'owners',
  source: {
    state: [collections, collectionOwners],
    open: async (context, { collection: symbol }) => {
      const { owner_count } = await requireCollection(context, symbol)
      const order = { index: collectionOwners, order: 'ofCollection', group: symbol } as const
      return createOrderListing(order, owner_count, doc => ({ account: doc.owner, count: doc.count }))
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { collection: 'nft_cats', page: '1', size: '5' },
})
