import { Type } from '@sinclair/typebox'
import { accounts } from '#indices/account.ts'
import { balances } from '#indices/balance.ts'
import { contracts } from '#indices/contract.ts'
import type { DocOf } from '#indices/define.ts'
import { lists } from '#indices/list.ts'
import { countOfItems, holdings, items } from '#indices/token721.ts'
import { inRunsOfNfts, readNfts } from './find/nfts.ts'
import { resolveOwner } from './find/owner.ts'
import { defineList } from './list/paging.ts'
import { owner, paging } from './request/parameter-types.ts'
import { nftFields, nftShown } from './shape/nfts.ts'
import { count, listOfRows, shape } from './shape/results.ts'

const accountNftRow = shape({
  ...nftFields,
  since_block: count('Height of the block in which the account got it.', '该账户取得此 NFT 的区块高度。'),
})

/** The NFTs of an owner. */
export const getAccountNfts = defineList({
  module: 'nft',
  action: 'get-account-nfts',
  title: { en: 'NFTs of an account', zh: '账户的 NFT 列表' },
  summary: {
    en: 'The NFTs of all collections that an account or contract owns now, the most recently acquired first; those of one block are sorted by collection and id as texts. Gifts and purchases inside contracts are included. A page with more than 16 MB of metadata is refused, and the message says how many rows would fit; an export has no limit.',
    zh: '账户或合约当前拥有的全部合集的 NFT，最近取得的在前；同一区块内取得的按合集与 ID 的文本顺序排列。包括在合约内部的赠与和购买。元数据超过 16 MB 的页会被拒绝，并说明最多可请求的行数；导出不受此限。',
  },
  params: Type.Object({ account: owner(), ...paging }),
  result: listOfRows('nfts', accountNftRow, { en: 'NFTs of this page.', zh: 'NFT 列表。' }),
  list: 'nfts',
  source: {
    state: [holdings, items, lists, accounts, contracts, balances],
    open: async (context, { account }) => {
      const group = await resolveOwner(context, account)
      const counted = await context.view.get(holdings, countOfItems(group))
      return {
        total: counted?.count ?? 0,
        docs: (view, offset, limit) => view.page(holdings, 'ofOwner', { group, offset, limit }),
        parts: inRunsOfNfts<DocOf<typeof holdings>>,
        rows: async (view, docs) => {
          const ids = docs.map(({ item }) => item)
          const nfts = await readNfts(view, ids)
          return {
            rows: nfts.map((doc, at) => ({ ...nftShown(doc), since_block: (docs[at]?.since ?? 1) - 1 })),
          }
        },
      }
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { account: '12345', page: '1', size: '5' },
})
