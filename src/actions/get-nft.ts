import { Type } from '@sinclair/typebox'
import { toIso } from '#chain/time.ts'
import { accounts } from '#indices/account.ts'
import { balances } from '#indices/balance.ts'
import { contracts } from '#indices/contract.ts'
import { lists } from '#indices/list.ts'
import { seriesOf } from '#indices/series.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import {
  type CollectionDoc,
  collectionOwners,
  collections,
  countOfItems,
  holdings,
  type ItemDoc,
  itemId,
  items,
} from '#indices/token721.ts'
import { missingData } from '#store/failures.ts'
import type { View } from '#store/port.ts'
import { type Context, defineAction } from './define.ts'
import { createOrderListing, splitRuns } from './find/listing.ts'
import { unknown } from './find/loading.ts'
import { numberedRows } from './find/numbered.ts'
import { requireNamed, resolveOwner } from './find/owner.ts'
import { OVERFLOW_BUDGET, pageTooLong } from './find/record-texts.ts'
import { openChangeList } from './find/series.ts'
import { defineList } from './list/paging.ts'
import { collection, owner, paging, sort, tokenId } from './request/parameter-types.ts'
import { checkRange, range } from './request/range.ts'
import { changeFields, changeRows } from './shape/changes.ts'
import { count, defineCreatedTime, listOfRows, numberedLists, shape, text, txHash } from './shape/results.ts'

/** Throws 'not_found' or 'loading'; if the collection does not exist, for the collection. */
async function requireNft(context: Pick<Context, 'view' | 'node'>, symbol: string, number: string) {
  const id = itemId(symbol, number)
  const found = await context.view.get(items, id)
  if (found !== undefined) return found
  await requireNamed(context, 'collection', symbol)
  throw unknown(context, 'nft', id)
}

/** The metadata of each NFT is a long text: it has at most 64 KB, the size limit of a transaction. */
const isLong = (): boolean => true

/**
 * NFTs by their ids, in the same order. Nothing is truncated: a page with more metadata than an answer may have is
 * refused ('bad_request'), with the number of rows that would fit. Throws 'damaged' if an NFT is not stored.
 */
async function readNfts(view: View, ids: readonly string[]): Promise<readonly ItemDoc[]> {
  const found: ItemDoc[] = []
  let bytes = 0
  for (const run of splitRuns(ids, isLong))
    for (const [at, doc] of (await view.getMany(items, run)).entries()) {
      if (doc === undefined) throw missingData(`NFT '${run[at]}' was issued, and has no document.`)
      bytes += Buffer.byteLength(doc.metadata)
      if (bytes > OVERFLOW_BUDGET) throw pageTooLong({ all: ids.length, read: found.length + 1 })
      found.push(doc)
    }
  return found
}

const collectionFields = {
  collection: text('Symbol of the collection.', '合集的符号。'),
  issuer: text('Account that may issue its NFTs.', '有权发行其 NFT 的账户。'),
  issued: count('Number of NFTs issued so far.', '已发行的 NFT 数量。'),
  owner_count: count('Number of owners of its NFTs.', '其 NFT 的持有者数。'),
  total_supply: text('Maximum number of NFTs that can be issued.', 'NFT 最大供应量。'),
  created_at: defineCreatedTime(),
  tx_hash: txHash(),
}

/** A collection in the form of an answer. */
const formatCollection = (doc: CollectionDoc) => ({
  collection: doc.symbol,
  issuer: doc.issuer,
  issued: doc.issued,
  owner_count: doc.owner_count,
  total_supply: String(doc.total_supply),
  created_at: toIso(doc.time),
  tx_hash: doc.tx_hash,
})

const nftFields = {
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
function formatNft({ id, owner, metadata, height, time, tx_hash }: ItemDoc) {
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
  run: async (context, { collection: symbol }) => formatCollection(await requireNamed(context, 'collection', symbol)),
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { collection: 'nft_cats' },
})

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
      return createOrderListing({ index: collections, order: 'byIssued' }, total, formatCollection)
    },
  },
  isOfStore: true,
  fails: [],
  example: { page: '1', size: '10' },
})

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
      const { issued } = await requireNamed(context, 'collection', symbol)
      return {
        total: issued,
        // Items are numbered in the order of issue, so the ids of a page need no look-up.
        docs: async (_view, offset, limit) =>
          Array.from({ length: limit }, (_, at) =>
            itemId(symbol, String(order === 'asc' ? offset + at : issued - 1 - offset - at)),
          ),
        isLong,
        rows: async (view, ids) => ({ rows: (await readNfts(view, ids)).map(formatNft) }),
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
      const { owner_count } = await requireNamed(context, 'collection', symbol)
      const order = { index: collectionOwners, order: 'ofCollection', group: symbol } as const
      return createOrderListing(order, owner_count, doc => ({ account: doc.owner, count: doc.count }))
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { collection: 'nft_cats', page: '1', size: '5' },
})

const accountNftRow = shape({
  ...nftFields,
  since_block: count('Height of the block in which the account got it.', '该账户取得此 NFT 的区块高度。'),
})

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
        isLong,
        rows: async (view, docs) => {
          const ids = docs.map(({ item }) => item)
          const nfts = await readNfts(view, ids)
          return {
            rows: nfts.map((doc, at) => ({ ...formatNft(doc), since_block: (docs[at]?.since ?? 1) - 1 })),
          }
        },
      }
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { account: '12345', page: '1', size: '5' },
})

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
  run: async (context, { collection: symbol, token_id }) => formatNft(await requireNft(context, symbol, token_id)),
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { collection: 'nft_cats', token_id: '0' },
})

const movementFields = {
  ...changeFields,
  from: text('Sender; empty for the issue.', '转出方；发行时为空。'),
  to: text('Recipient.', '转入方。'),
}

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
  ...numberedLists('movements', movementFields, { en: 'Movements of this page.', zh: '转移列表。' }),
  list: 'movements',
  source: {
    state: [],
    open: async (context, { collection: symbol, token_id, ...asked }) => {
      const { id } = await requireNft(context, symbol, token_id)
      const all = await openChangeList(context.view, seriesOf.item(id))
      const nothing = { from: () => undefined, after: () => undefined }
      return {
        ...(await numberedRows(context, all, asked)),
        rows: changeRows({ fold: nothing, compat: context.compat }, ({ more: [from = '', to = ''] }) => ({ from, to })),
      }
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { collection: 'nft_cats', token_id: '0', page: '1', size: '5' },
})
