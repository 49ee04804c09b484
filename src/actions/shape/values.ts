import { fromUnits, trimZeros } from '#chain/amount.ts'
import { Exact } from '#chain/json.ts'

/** IOST, votes and pledges are stored in 10^-8. */
const IOST_DECIMALS = 8
/** Gas is stored × 100. */
const GAS_DECIMALS = 2

/** Smallest units as a number in token units. */
export const toAmount = (units: bigint, decimals: number): Exact => new Exact(fromUnits(units, decimals))
/** 10^-8 IOST as a number of IOST. */
export const toIost = (units: bigint): Exact => toAmount(units, IOST_DECIMALS)
/** Gas × 100 as a number of gas. */
export const toGas = (units: bigint): Exact => toAmount(units, GAS_DECIMALS)
/** Nanoseconds since 1970 as a number. */
export const toTime = (ns: bigint): Exact => new Exact(String(ns))

/**
 * The text of a JSON number without exponent and with the same value: `1.5e-7` → `0.00000015`. Text that is
 * not in exponent form is returned unchanged.
 */
export function plainNumber(text: string): string {
  const parts = /^(-?)(\d+)(?:\.(\d+))?[eE]([+-]?\d+)$/.exec(text)
  if (parts === null) return text
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts
  const shift = Number(exponent)
  // Larger exponents would make a text longer than any figure of the chain: int64 and doubles near it.
  if (Math.abs(shift) > 400) return text
  const digits = whole + fraction
  const point = whole.length + shift
  const padded = point <= 0 ? '0'.repeat(1 - point) + digits : digits.padEnd(point, '0')
  const at = Math.max(point, 1)
  const fractional = trimZeros(padded.slice(at))
  const integral = padded.slice(0, at).replace(/^0+(?=\d)/, '')
  return `${sign}${integral}${fractional === '' ? '' : `.${fractional}`}`
}

/** A double as the chain computes it: the shortest text that parses to the same double, without exponent. */
export const toDouble = (value: number): Exact => new Exact(Number.isFinite(value) ? plainNumber(String(value)) : '0')
