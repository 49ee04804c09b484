import { fromUnits, trimZeros } from '#chain/amount.ts'

/** A decimal with thousands separators and without trailing zeros. */
export const grouped = (decimal: string): string => {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal) ?? []
  if (whole === '') return decimal
  const trimmed = trimZeros(fraction)
  return `${sign}${groupDigits(whole)}${trimmed === '' ? '' : `.${trimmed}`}`
}

/** Digits with thousands separators. */
function groupDigits(digits: string): string {
  let text = digits.slice(0, digits.length % 3)
  for (let at = text.length; at < digits.length; at += 3) text += `${text === '' ? '' : ','}${digits.slice(at, at + 3)}`
  return text
}

/** A change with its sign and thousands separators: `+1,234.5`, `−0.25`, `0`. */
export const signed = (decimal: string): string => {
  const shown = grouped(decimal)
  if (shown.startsWith('-')) return `−${shown.slice(1)}`
  return /[1-9]/.test(shown) ? `+${shown}` : shown
}

/** The whole part of a formatted number (`grouped`), and its fraction with the decimal point. */
export const partsOf = (shown: string): { readonly whole: string; readonly fraction: string } => {
  const [whole = ''] = shown.split('.', 1)
  return { whole, fraction: shown.slice(whole.length) }
}

/** Digits of a whole part from which decimals are unimportant. */
const LONG = 4

/** Whether a whole part is so long that its decimals are unimportant. */
export const isLong = (whole: string): boolean => whole.replace(/\D/g, '').length >= LONG

/** The number of decimals for a column with all of its numbers aligned. */
export const decimalsOf = (numbers: readonly (string | number)[]): number =>
  numbers.reduce<number>((most, each) => Math.max(most, partsOf(grouped(String(each))).fraction.length - 1), 0)

/** Maximum decimals, more than any token has. */
const DECIMALS = 18

/** A decimal in units of 10^-18. */
const unitsOf = (decimal: string): bigint => {
  const [integral = '0', fraction = ''] = decimal.split('.')
  return BigInt(integral + fraction.slice(0, DECIMALS).padEnd(DECIMALS, '0'))
}

/** The exact sum of decimals. */
export const sumOf = (decimals: readonly string[]): string =>
  fromUnits(
    decimals.reduce((sum, each) => sum + unitsOf(each), 0n),
    DECIMALS,
  )

/**
 * The percentage of a part in a whole, with two decimals, rounded down. Both are decimals. `undefined`: the
 * whole is zero.
 */
export const percentOf = (part: string, whole: string): string | undefined => {
  const all = unitsOf(whole)
  if (all <= 0n) return undefined
  const hundredths = (unitsOf(part) * 10_000n) / all
  return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`
}
