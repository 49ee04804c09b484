import { Type } from '@sinclair/typebox'
import { fromUnits } from '#chain/amount.ts'
import { toIso } from '#chain/time.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { tokens } from '#indices/token.ts'
import { createOrderListing } from './find/listing.ts'
import { defineList } from './list/paging.ts'
import { paging } from './request/parameter-types.ts'
import { count, defineCreatedTime, exact, listOfRows, shape, text } from './shape/results.ts'
import { toAmount, toTransferability, transferability } from './shape/values.ts'

const baseTokenRow = shape({
  symbol: text('Name of the token.', '代币名称。'),
  full_name: text('Full name of the token.', '代币全名。'),
  holder_count: count('Number of owners with a balance above 0.', '余额大于 0 的持有者数。'),
  issuer: text('Issuer; empty if the token was recycled.', '发行者；代币被回收后为空。'),
  decimal: count('Decimals of the token.', '代币小数位数。'),
  current_supply: exact(
    'Current supply (issued minus destroyed), in token units.',
    '当前供应量，即已发行减去已销毁的数量（代币单位）。',
  ),
  total_supply: text('Maximum supply, in token units.', '最大供应量（代币单位）。'),
  ...transferability,
  created_at: defineCreatedTime(),
})

/** Every token of the chain. */
export const getBaseTokenList = defineList({
  module: 'base',
  action: 'get-token-list',
  name: 'get-base-token-list',
  title: { en: 'Tokens', zh: '代币列表' },
  summary: {
    en: 'All tokens of the chain, sorted by number of holders, most first, then by symbol. Tokens without holders come last.',
    zh: '链上的全部代币，按持有者数从多到少排列，数量相同时按符号排列。没有持有者的代币排在最后。',
  },
  params: Type.Object({ ...paging }),
  result: listOfRows('tokens', baseTokenRow, { en: 'Tokens of this page.', zh: '代币列表。' }),
  list: 'tokens',
  source: {
    state: [tokens, statistics],
    open: async ({ view }) => {
      const total = (await view.get(statistics, STATISTICS))?.token_count ?? 0
      return createOrderListing({ index: tokens, order: 'byHolders' }, total, doc => ({
        symbol: doc.symbol,
        full_name: doc.full_name,
        holder_count: doc.holder_count,
        issuer: doc.issuer,
        decimal: doc.decimal,
        current_supply: toAmount(doc.current_supply, doc.decimal),
        total_supply: fromUnits(doc.total_supply, doc.decimal),
        ...toTransferability(doc),
        created_at: toIso(doc.time),
      }))
    },
  },
  isOfStore: true,
  fails: [],
  example: { page: '1', size: '10' },
})
