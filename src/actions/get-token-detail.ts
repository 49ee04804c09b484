import { Type } from '@sinclair/typebox'
import { fromUnits } from '#chain/amount.ts'
import { toIso } from '#chain/time.ts'
import { tokens } from '#indices/token.ts'
import { defineAction } from './define.ts'
import { unknown } from './find/loading.ts'
import { token } from './request/parameter-types.ts'
import { count, defineCreatedTime, exact, shape, text, txHash } from './shape/results.ts'
import { toAmount, toTransferability, transferability } from './shape/values.ts'

/** A token. */
export const getTokenDetail = defineAction({
  module: 'token',
  action: 'get-token-detail',
  title: { en: 'Token', zh: '代币详情' },
  summary: {
    en: 'A token and its supply, in token units. issuer is empty if the token was recycled.',
    zh: '代币信息，供应量以代币单位表示。代币被回收后 issuer 为空。',
  },
  params: Type.Object({ token: token() }),
  result: shape({
    symbol: text('Name of the token.', '代币名称。'),
    full_name: text('Full name.', '全名。'),
    issuer: text('Account that may issue the token.', '有权发行该代币的账户。'),
    decimal: count('Decimals.', '小数位数。'),
    total_supply: text('Maximum supply, in token units.', '最大供应量（代币单位）。'),
    current_supply: exact(
      'Current supply (issued minus destroyed), in token units.',
      '当前供应量，即已发行减去已销毁的数量（代币单位）。',
    ),
    ...transferability,
    holder_count: count('Number of owners with a balance above 0.', '余额大于 0 的持有者数。'),
    created_at: defineCreatedTime(),
    tx_hash: txHash(),
  }),
  run: async (context, { token: symbol }) => {
    const found = await context.view.get(tokens, symbol)
    if (found === undefined) throw unknown(context, 'token', symbol)
    return {
      symbol: found.symbol,
      full_name: found.full_name,
      issuer: found.issuer,
      decimal: found.decimal,
      total_supply: fromUnits(found.total_supply, found.decimal),
      current_supply: toAmount(found.current_supply, found.decimal),
      ...toTransferability(found),
      holder_count: found.holder_count,
      created_at: toIso(found.time),
      tx_hash: found.tx_hash,
    }
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { token: 'iost' },
})
