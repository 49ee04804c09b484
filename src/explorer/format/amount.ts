import { fromUnits } from '#chain/amount.ts'

/** A decimal number in parts as people read it: thousands apart, without zeros at its end. */
export const grouped = (decimal: string): string => {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal) ?? []
  if (whole === '') return decimal
  const trimmed = fraction.replace(/0+$/, '')
  return `${sign}${whole.replace(/\B(?=(\d{3})+$)/g, ',')}${trimmed === '' ? '' : `.${trimmed}`}`
}

/** The same for a change, with its sign: `+1,234.5`, `−0.25`, `0`. */
export const signed = (decimal: string): string => {
  const shown = grouped(decimal)
  if (shown.startsWith('-')) return `−${shown.slice(1)}`
  return /[1-9]/.test(shown) ? `+${shown}` : shown
}

/** The whole part of a number as people read it (`grouped`), and its fraction with the point. */
export const partsOf = (shown: string): { readonly whole: string; readonly fraction: string } => {
  const [whole = ''] = shown.split('.', 1)
  return { whole, fraction: shown.slice(whole.length) }
}

/** Digits of a whole part beside which decimals say little. */
const LONG = 4

/** Whether a whole part is so long that the decimals behind it say little. */
export const isLong = (whole: string): boolean => whole.replace(/\D/g, '').length >= LONG

/** The number of decimals that a column needs for all of its numbers. */
export const decimalsOf = (numbers: readonly (string | number)[]): number =>
  numbers.reduce<number>(
    (most, each) => Math.max(most, partsOf(grouped(String(each))).fraction.length - 1),
    0,
  )

/** More decimals than any token has. */
const DECIMALS = 18

/** A decimal as whole units of 10^-18. */
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

/** The share of a part in a whole in percent with two decimals, rounded down; both are decimals. `undefined`: no whole. */
export const percentOf = (part: string, whole: string): string | undefined => {
  const all = unitsOf(whole)
  if (all <= 0n) return undefined
  const hundredths = (unitsOf(part) * 10_000n) / all
  return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`
}
