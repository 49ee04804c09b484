import type { Prices } from '#actions/define.ts'
import { Exact, type ExactJson, parseExact } from '#chain/json.ts'

/**
 * Parses an operator's market figures: `{"usd": "0.0051", "cny": 0.037, "rank": 312, "time":
 * "2026-11-21T08:00:00Z"}`. Prices are decimals (numbers or text, all digits kept), `rank` is an integer from
 * 1, and `time` is ISO 8601 with a zone. Throws when a field is missing or invalid.
 */
export function parsePrices(text: string): NonNullable<ReturnType<Prices['get']>> {
  const json = parseExact(text)
  const read = (name: string): string => fieldText(json, name)
  const usd = decimal('usd', read('usd'))
  const cny = decimal('cny', read('cny'))
  const rank = read('rank')
  if (!/^[1-9]\d{0,8}$/.test(rank)) throw new RangeError(`rank ${rank} is not a whole number from 1`)
  const time = read('time')
  // A time without a zone would be interpreted in the zone of this machine.
  if (!/^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/.test(time) || Number.isNaN(Date.parse(time)))
    throw new RangeError(`time ${time} is not an ISO-8601 time with a zone, such as 2026-11-21T08:00:00Z`)
  return { usd, cny, rank: Number(rank), time: new Date(time).toISOString() }
}

/** Whether a text is a price as operators give it: a decimal of at most 18 digits on each side of its point. */
export const isPrice = (text: string): boolean => /^(?:0|[1-9]\d{0,17})(?:\.\d{1,18})?$/.test(text)

function decimal(name: string, text: string): string {
  if (!isPrice(text)) throw new RangeError(`${name} ${text} is not a decimal number`)
  return text
}

function fieldText(json: ExactJson, name: string): string {
  if (typeof json !== 'object' || json === null || Array.isArray(json) || json instanceof Exact)
    throw new TypeError('the text is not a JSON object')
  const value = (json as Readonly<Record<string, ExactJson>>)[name]
  if (value instanceof Exact) return value.text
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  throw new TypeError(`field ${name} is missing`)
}
