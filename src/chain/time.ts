import { Failure } from '#failure/failure.ts'
import { trimZeros } from './amount.ts'

/** Nanoseconds since 1970, both inclusive. */
type TimeSpan = { readonly first: bigint; readonly last: bigint }

/** An existing date: days by month, and 29 February in leap years only. */
export const DATE_PATTERN =
  '(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)'
export const ISO_PATTERN = `${DATE_PATTERN}T(?:[01][0-9]|2[0-3])(?::[0-5][0-9]){2}(?:\\.[0-9]{1,9})?Z`
const ISO = new RegExp(`^${ISO_PATTERN}$`)

const NS_PER_MS = 1_000_000n
const NS_PER_SECOND = 1_000_000_000n
const NS_PER_DAY = 86_400_000_000_000n
const MS_PER_DAY = 86_400_000
/** The last millisecond a `Date` can hold (ECMAScript time values). */
const LAST_MS = 8_640_000_000_000_000n

/**
 * Nanoseconds since 1970 as ISO-8601 UTC with milliseconds, truncated, not rounded: `2026-11-21T08:25:32.500Z`. Every
 * int64 of nanoseconds has a date; outside the range of `Date` it throws Failure 'defect'.
 */
export function toIso(ns: bigint): string {
  const cut = ns / NS_PER_MS
  const ms = ns < 0n && cut * NS_PER_MS !== ns ? cut - 1n : cut
  if (ms > LAST_MS || ms < -LAST_MS) throw new Failure('defect', `Time ${ns} ns is outside the range of dates.`)
  return new Date(Number(ms)).toISOString()
}

/** As `toIso`, but exact: with as many fractional digits as the time needs, from `…:32Z` to `…:32.500320384Z`. */
export function exactIso(ns: bigint): string {
  const seconds = toIso(ns).slice(0, -'.000Z'.length)
  const rest = ((ns % NS_PER_SECOND) + NS_PER_SECOND) % NS_PER_SECOND
  return rest === 0n ? `${seconds}Z` : `${seconds}.${trimZeros(String(rest).padStart(9, '0'))}Z`
}

/**
 * The range of an ISO-8601 time in UTC: the whole of its last given unit, which is a second, or the decimal
 * place of a second of its last digit. undefined: the text is no such time.
 */
export function parseIso(text: string): TimeSpan | undefined {
  if (!ISO.test(text)) return undefined
  const seconds = text.slice(0, 'YYYY-MM-DDThh:mm:ss'.length)
  const ms = Date.parse(`${seconds}Z`)
  const fraction = text.slice(seconds.length + 1, -1)
  const first = BigInt(ms) * NS_PER_MS + BigInt(fraction.padEnd(9, '0'))
  return { first, last: first + 10n ** BigInt(9 - fraction.length) - 1n }
}

/** UTC day since 1970 of a time in nanoseconds. */
export const toDay = (ns: bigint): number => Number(ns / NS_PER_DAY)

/** The first nanosecond of a UTC day since 1970. */
export const startOfDay = (day: number): bigint => BigInt(day) * NS_PER_DAY

/** Date of a UTC day since 1970, such as `2026-11-21`. */
export const formatDate = (day: number): string =>
  new Date(day * MS_PER_DAY).toISOString().slice(0, 'YYYY-MM-DD'.length)

/** UTC day since 1970 of a date; undefined: no such date. */
export function parseDay(date: string): number | undefined {
  const span = parseIso(`${date}T00:00:00Z`)
  return span === undefined ? undefined : toDay(span.first)
}

/** Blocks of a slot are 500 ms apart (go-iost common/witness.go, BlockInterval). */
const BLOCKS_PER_SECOND = 2
/** Extra blocks that are allowed for differences between clocks. */
const CLOCKS_DIFFER = 1_000

/** A block that is known to belong to the chain; `time` in nanoseconds since 1970. */
export type KnownBlock = { readonly height: number; readonly time: bigint }

/**
 * The greatest height that the chain can have at `now`, milliseconds since 1970, by the time that has passed since a
 * known block. Infinity if the clock is behind that block, since it proves nothing about the chain then.
 */
export function highestPossible({ height, time }: KnownBlock, now: number): number {
  const seconds = now / 1_000 - Number(time) / 1e9
  return seconds < 0 ? Number.POSITIVE_INFINITY : height + Math.ceil(seconds * BLOCKS_PER_SECOND) + CLOCKS_DIFFER
}
