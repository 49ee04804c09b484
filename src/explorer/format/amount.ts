import { formatUnits, trimZeros } from '#chain/amount.ts'
import { isBasePlace } from '#chain/base-transaction.ts'

/** A decimal with thousands separators and without trailing zeros. */
export function formatGrouped(decimal: string): string {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal) ?? []
  if (whole === '') return decimal
  const trimmed = trimZeros(fraction)
  return `${sign}${groupDigits(whole)}${trimmed === '' ? '' : `.${trimmed}`}`
}

function groupDigits(digits: string): string {
  let text = digits.slice(0, digits.length % 3)
  for (let at = text.length; at < digits.length; at += 3) text += `${text === '' ? '' : ','}${digits.slice(at, at + 3)}`
  return text
}

/** A change with its sign and thousands separators: `+1,234.5`, `−0.25`, `0`. */
export function formatSigned(decimal: string): string {
  const shown = formatGrouped(decimal)
  if (shown.startsWith('-')) return `−${shown.slice(1)}`
  return /[1-9]/.test(shown) ? `+${shown}` : shown
}

/** The whole part of a formatted number (`formatGrouped`), and its fraction with the decimal point. */
export function splitNumber(shown: string): { readonly whole: string; readonly fraction: string } {
  const [whole = ''] = shown.split('.', 1)
  return { whole, fraction: shown.slice(whole.length) }
}

/** Digits of a whole part from which decimals are unimportant. */
const LONG = 4

/** Whether a whole part is so long that its decimals are unimportant. */
export const isLong = (whole: string): boolean => whole.replace(/\D/g, '').length >= LONG

/** The number of decimals for a column with all of its numbers aligned. */
export const countDecimals = (numbers: readonly (string | number)[]): number =>
  numbers.reduce<number>(
    (most, each) => Math.max(most, splitNumber(formatGrouped(String(each))).fraction.length - 1),
    0,
  )

/** Maximum decimals, more than any token has. */
const DECIMALS = 18

/** A decimal in units of 10^-18. */
function toUnits(decimal: string): bigint {
  const [integral = '0', fraction = ''] = decimal.split('.')
  return BigInt(integral + fraction.slice(0, DECIMALS).padEnd(DECIMALS, '0'))
}

/** Rows by a decimal of each, in descending order. The sort is stable. */
export function sortByDecimal<R>(rows: readonly R[], read: (row: R) => string | number): readonly R[] {
  const keyed = rows.map(row => ({ row, key: toUnits(String(read(row))) }))
  return keyed.sort((one, other) => (one.key === other.key ? 0 : one.key < other.key ? 1 : -1)).map(({ row }) => row)
}

export const sumDecimals = (decimals: readonly string[]): string =>
  formatUnits(
    decimals.reduce((sum, each) => sum + toUnits(each), 0n),
    DECIMALS,
  )

/**
 * The percentage of a part in a whole, with two decimals, rounded down. Both are decimals. `undefined`: the
 * whole is zero.
 */
export function formatPercent(part: string, whole: string): string | undefined {
  const all = toUnits(whole)
  if (all <= 0n) return undefined
  const hundredths = (toUnits(part) * 10_000n) / all
  return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`
}

/** The English noun for a number of things: `block` for one, else `blocks`. Chinese has no plural. */
export const selectNoun = (count: number | bigint | string, one: string): string =>
  String(count) === '1' ? one : `${one}s`

/** A count of things in English: `1 block`, `1,234 blocks`. */
export const formatCountedNoun = (count: number | string, one: string): string =>
  `${formatGrouped(String(count))} ${selectNoun(count, one)}`

/**
 * The number of a block's transactions without its base transaction, like in lists of transactions. `count`
 * includes it.
 */
export const countOwnTransactions = (number: number, count: number): number =>
  isBasePlace({ height: number, tx: 0 }) ? Math.max(0, count - 1) : count

type Balance = {
  readonly balance: string
  readonly frozen_balance: { readonly total: string }
  readonly vote_balance: { readonly total: string }
}

/** The IOST that an owner pledged for gas, the total of the rich list, and the sum of both. */
export function computeTotals(balance: Balance, pledges: readonly { readonly amount: string }[]) {
  const pledged = sumDecimals(pledges.map(({ amount }) => amount))
  const ranked = sumDecimals([balance.balance, balance.frozen_balance.total, balance.vote_balance.total])
  return { pledged, ranked, all: sumDecimals([ranked, pledged]) }
}

/** The rows that are due first, in any input order. `time` is in nanoseconds since 1970. */
export function selectFirstDue<R extends { readonly time: string }>(rows: readonly R[]): readonly R[] {
  const first = rows.reduce<string | undefined>(
    (time, row) => (time === undefined || BigInt(row.time) < BigInt(time) ? row.time : time),
    undefined,
  )
  return rows.filter(({ time }) => time === first)
}
