import { Type } from '@sinclair/typebox'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { collections } from '#indices/token721.ts'
import { defineList } from './list/paging.ts'
import { createOrderListing } from './list/whole-list.ts'
import { paging } from './request/parameter-types.ts'
import { collectionFields, collectionShown } from './shape/collections.ts'
import { listOfRows, shape } from './shape/results.ts'

/** Every collection of NFTs. */
export const getCollectionList = defineList({
  module: 'nft',
  action: 'get-collection-list',
  title: { en: 'NFT collections', zh: 'NFT 合集列表' },
  summary: {
    en: 'All NFT collections, which are the tokens of the contract token721.iost, sorted by the number of NFTs issued, most first, then by symbol.',
    zh: '全部 NFT 合集，即合约 token721.iost 的代币，按已发行的 NFT 数量从多到少排列，数量相同时按符号排列。',
  },
  params: Type.Object({ ...paging }),
  result: listOfRows('collections', shape(collectionFields), {
    en: 'Collections of this page.',
    zh: '合集列表。',
  }),
  list: 'collections',
  source: {
    state: [collections, statistics],
    open: async ({ view }) => {
      const total = (await view.get(statistics, STATISTICS))?.collection_count ?? 0
      return createOrderListing({ index: collections, order: 'byIssued' }, total, collectionShown)
    },
  },
  isOfStore: true,
  fails: [],
  example: { page: '1', size: '10' },
})
