import type { StatisticsDoc } from '#indices/statistics.ts'
import { doubleOf } from './values.ts'

/** ram.iost sells at balance ÷ left and buys at 2 % above (chain rule, `ram.js`). */
const BUY_FACTOR = 1.02

/** IOST per byte. Doubles in the chain's own order of operations (`ram.js`, `ram_handler.go`). */
export const ramPricesOf = (ram: Pick<StatisticsDoc['ram'], 'left' | 'balance'>) => {
  const left = Number(ram.left)
  const balance = Number(ram.balance)
  return {
    ram_buy_price: doubleOf((BUY_FACTOR * balance) / left),
    ram_sell_price: doubleOf(balance / left),
  }
}
