import { Failure } from '#failure/failure.ts'

/** Nanoseconds since 1970, both inclusive. */
export type Span = { readonly first: bigint; readonly last: bigint }

export const ISO_PATTERN = '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\\.[0-9]{1,9})?Z'
const ISO = new RegExp(`^${ISO_PATTERN}$`)

const NS_PER_MS = 1_000_000n
/** The last millisecond a `Date` can hold (ECMAScript time values). */
const LAST_MS = 8_640_000_000_000_000n

/**
 * Nanoseconds since 1970 as ISO-8601 UTC with milliseconds, cut, not rounded: `2026-11-21T08:25:32.500Z`. Every int64 of
 * nanoseconds has a date; beyond what `Date` holds it throws Failure 'defect'.
 */
export const toIso = (ns: bigint): string => {
  const cut = ns / NS_PER_MS
  const ms = ns < 0n && cut * NS_PER_MS !== ns ? cut - 1n : cut
  if (ms > LAST_MS || ms < -LAST_MS)
    throw new Failure('defect', `Time ${ns} ns is outside the range of dates.`)
  return new Date(Number(ms)).toISOString()
}

/**
 * The range that an ISO-8601 time in UTC names: a millisecond, since times are answered cut to milliseconds, or one
 * nanosecond when it has more than three digits of a second. undefined: no such time.
 */
export const fromIso = (text: string): Span | undefined => {
  if (!ISO.test(text)) return undefined
  const seconds = text.slice(0, 'YYYY-MM-DDThh:mm:ss'.length)
  const ms = Date.parse(`${seconds}Z`)
  // Some engines read 30 February or 24:00 as a time of the next day.
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, seconds.length) !== seconds) return undefined
  const fraction = text.slice(seconds.length + 1, -1)
  const first = BigInt(ms) * NS_PER_MS + BigInt(fraction.padEnd(9, '0'))
  return { first, last: fraction.length > 3 ? first : first + NS_PER_MS - 1n }
}
