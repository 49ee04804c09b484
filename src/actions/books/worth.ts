import { product } from '#chain/amount.ts'
import type { PriceHistory } from '../define.ts'
import type { Booking } from './booking.ts'

/** Value of a change at the price of its UTC day, with all digits; undefined: there is no price. */
export function findWorth(
  { token, time, change }: Pick<Booking, 'token' | 'time' | 'change'>,
  prices: ReturnType<PriceHistory['get']>,
): { readonly amount: string; readonly currency: string } | undefined {
  const price = token === 'iost' ? prices?.byDay.get(time.slice(0, 'YYYY-MM-DD'.length)) : undefined
  return prices === undefined || price === undefined
    ? undefined
    : { amount: product(change.replace('-', ''), price), currency: prices.currency }
}
