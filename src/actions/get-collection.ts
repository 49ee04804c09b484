import { Type } from '@sinclair/typebox'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { collectionOwners, collections, itemId, items } from '#indices/token721.ts'
import { defineAction } from './define.ts'
import { createOrderListing } from './find/listing.ts'
import { inRunsOfNfts, readNfts, requireCollection } from './find/nfts.ts'
import { defineList } from './list/paging.ts'
import { collection, paging, sort } from './request/parameter-types.ts'
import { collectionFields, collectionShown, nftFields, nftShown } from './shape/nfts.ts'
import { count, listOfRows, shape, text } from './shape/results.ts'

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

/** The NFTs of a collection. */
export const getCollectionNfts = defineList({
  module: 'nft',
  action: 'get-collection-nfts',
  title: { en: 'NFTs of a collection', zh: '合集的 NFT 列表' },
  summary: {
    en: 'All NFTs of a collection with their present owners, the most recently issued first; sort=asc returns the exact reverse. An NFT is never destroyed. A page with more than 16 MB of metadata is refused, and the message says how many rows would fit; an export has no limit.',
    zh: '合集中的全部 NFT 及其当前持有者，最新发行的在前；sort=asc 时顺序完全相反。NFT 发行后不会被销毁。元数据超过 16 MB 的页会被拒绝，并说明最多可请求的行数；导出不受此限。',
  },
  params: Type.Object({ collection: collection(), ...paging, sort: sort() }),
  result: listOfRows('nfts', shape(nftFields), { en: 'NFTs of this page.', zh: 'NFT 列表。' }),
  list: 'nfts',
  source: {
    state: [collections, items],
    open: async (context, { collection: symbol, sort: order }) => {
      const { issued } = await requireCollection(context, symbol)
      return {
        total: issued,
        // Items are numbered in the order of issue, so the ids of a page need no look-up.
        docs: async (_view, offset, limit) =>
          Array.from({ length: limit }, (_, at) =>
            itemId(symbol, String(order === 'asc' ? offset + at : issued - 1 - offset - at)),
          ),
        parts: inRunsOfNfts<string>,
        rows: async (view, ids) => ({ rows: (await readNfts(view, ids)).map(nftShown) }),
      }
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { collection: 'nft_cats', page: '1', size: '5' },
})

const ownerRow = shape({
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
  result: listOfRows('owners', ownerRow, { en: 'Owners of this page.', zh: '持有者列表。' }),
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
