import { bool, countedOrder, type DocOf, defineIndex, int, keyword, long, sortedInt, text } from './define.ts'

/** Tokens of token.iost. Id: the symbol. Supplies in the smallest unit. */
export const tokens = defineIndex({
  name: 'tokens',
  kind: 'state',
  named: 'symbol',
  orders: {
    /** All tokens; those without holders come last. */
    byHolders: countedOrder(['holder_count', 'symbol']),
  },
  fields: {
    symbol: keyword(),
    full_name: text(),
    /** `""` after recycle. */
    issuer: text(),
    decimal: int(),
    total_supply: long(),
    current_supply: long(),
    can_transfer: bool(),
    only_issuer_can_transfer: bool(),
    /** Owners with an amount above zero. */
    holder_count: sortedInt(),
    height: int(),
    time: long(),
    tx_hash: text(),
  },
})
export type TokenDoc = DocOf<typeof tokens>
