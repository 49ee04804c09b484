import type { PriceHistory } from '#actions/define.ts'
import { dayOfDate } from '#chain/time.ts'
import { isPrice } from './prices.ts'
import { shownLine } from './shown-line.ts'

const DATE = /^\d{4}-\d\d-\d\d$/
const CURRENCY = /^[A-Z]{3}$/
const CURRENCY_DEFAULT = 'USD'

/**
 * Parses an operator's prices of IOST by UTC day: lines `2026-11-21,0.0051`, optionally below a header `date,price` or
 * `date,EUR`. All digits are kept. Throws at the first malformed line, with its number and the rule.
 */
export function parsePriceHistory(text: string): NonNullable<ReturnType<PriceHistory['get']>> {
  const [first = '', ...others] = text.replace(/^\ufeff/, '').split(/\r?\n/)
  const head = /^date,(.*)$/i.exec(first)?.[1]
  const byDay = new Map<string, string>()
  for (const [at, line] of (head === undefined ? [first, ...others] : others).entries()) {
    if (line === '') continue
    const [date = '', price = '', ...more] = line.split(',')
    const isPair = line.includes(',') && more.length === 0
    const fault = isPair ? findPriceFault(date, price, byDay) : 'is not a date and a price with one comma between them'
    if (fault !== undefined)
      throw new RangeError(`line ${at + (head === undefined ? 1 : 2)}, ${shownLine(line)}, ${fault}`)
    byDay.set(date, price)
  }
  if (byDay.size === 0) throw new RangeError('it has no line with a date and a price')
  return { currency: parseCurrency(head), byDay }
}

/** The fault in a line; undefined: none. */
function findPriceFault(date: string, price: string, earlier: ReadonlyMap<string, string>): string | undefined {
  if (!DATE.test(date) || dayOfDate(date) === undefined)
    return 'does not begin with a day that exists, such as 2026-11-21'
  if (!isPrice(price)) return 'has no decimal price of at most 18 digits on each side of a point, such as 0.0051'
  return earlier.has(date) ? 'has the day of an earlier line' : undefined
}

function parseCurrency(head: string | undefined): string {
  if (head === undefined || /^price$/i.test(head)) return CURRENCY_DEFAULT
  const currency = head.toUpperCase()
  if (!CURRENCY.test(currency))
    throw new RangeError(`line 1 names ${shownLine(head)}, which is not price or a currency of three letters`)
  return currency
}
