import { Type } from '@sinclair/typebox'
import { seriesOf } from '#indices/series.ts'
import { defineAction } from './define.ts'
import { requireNft } from './find/nfts.ts'
import { numberedRows } from './find/numbered.ts'
import { openChangeList } from './find/series.ts'
import { defineList } from './list/paging.ts'
import { collection, paging, sort, tokenId } from './request/parameter-types.ts'
import { checkRange, range } from './request/range.ts'
import { changeFields, changeRows } from './shape/changes.ts'
import { nftFields, nftShown } from './shape/nfts.ts'
import { listOfRows, shape, text } from './shape/results.ts'

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

const { seq: movementSeq, ...movementFields } = {
  ...changeFields,
  from: text('Sender; empty for the issue.', '转出方；发行时为空。'),
  to: text('Recipient.', '转入方。'),
}
const title = { en: 'Movements of this page.', zh: '转移列表。' }

/** The issue and all transfers of an NFT. */
export const getNftHistory = defineList({
  module: 'nft',
  action: 'get-nft-history',
  title: { en: 'Movements of an NFT', zh: 'NFT 转移历史' },
  summary: {
    en: 'The issue of an NFT and each of its transfers, newest first; sort=asc returns the exact reverse. Movements inside contracts are included, which the lists of transactions do not have.',
    zh: 'NFT 的发行与每次转移，最新的在前；sort=asc 时顺序完全相反。包括在合约内部发生的转移，交易列表中没有这些转移。',
  },
  params: Type.Object({ collection: collection(), token_id: tokenId(), ...paging, sort: sort(), ...range }),
  check: checkRange,
  result: listOfRows('movements', shape({ seq: movementSeq, ...movementFields }), title),
  compatResult: listOfRows('movements', shape(movementFields), title),
  list: 'movements',
  source: {
    state: [],
    open: async (context, { collection: symbol, token_id, ...asked }) => {
      const { id } = await requireNft(context, symbol, token_id)
      const all = await openChangeList(context.view, seriesOf.item(id))
      const nothing = { from: () => undefined, after: () => undefined }
      return {
        ...(await numberedRows(context, all, asked)),
        rows: changeRows(nothing, context.compat, ({ more: [from = '', to = ''] }) => ({ from, to })),
      }
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { collection: 'nft_cats', token_id: '0', page: '1', size: '5' },
})
