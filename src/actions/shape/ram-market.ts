import type { StatisticsDoc } from '#indices/statistics.ts'
import { toDouble } from './values.ts'

/** Accounts sell RAM to ram.iost at balance ÷ left, and buy it at 2 % more (chain rule, `ram.js`). */
const BUY_FACTOR = 1.02

/** Prices in IOST per byte. Doubles, in the chain's own order of operations (`ram.js`, `ram_handler.go`). */
export function computeRamPrices(ram: Pick<StatisticsDoc['ram'], 'left' | 'balance'>) {
  const left = Number(ram.left)
  const balance = Number(ram.balance)
  return { ram_buy_price: toDouble((BUY_FACTOR * balance) / left), ram_sell_price: toDouble(balance / left) }
}
