import { Type } from '@sinclair/typebox'
import { collections, itemId, items } from '#indices/token721.ts'
import { inRunsOfNfts, readNfts, requireCollection } from './find/nfts.ts'
import { defineList } from './list/paging.ts'
import { collection } from './request/nft.ts'
import { paging, sort } from './request/parameter-types.ts'
import { nftFields, nftShown } from './shape/nfts.ts'
import { listOfRows, shape } from './shape/results.ts'

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
