import { Failure } from '#failure/failure.ts'

/** IOST has eight decimals, like votes and pledges, which are counted in it. */
export const IOST_DECIMALS = 8

/** Amounts of token.iost since 1.0.2 (chain rule): at most one point, digits on both sides, no sign, no exponent. */
const AMOUNT = /^(?:[0-9]+\.)?[0-9]+$/
const AS_READ = /^(?:--)*([0-9]+)(?:\.([0-9]*))?/

const joinUnits = (whole: string, fraction: string, decimals: number): bigint =>
  BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'))

/**
 * Converts a decimal text to the token's smallest unit and truncates excess decimals: ("1234.56789", 4) →
 * 12345678n. undefined: the text is not an amount.
 */
export function parseUnits(text: string, decimals: number): bigint | undefined {
  if (!AMOUNT.test(text)) return undefined
  const point = text.indexOf('.')
  return point < 0 ? joinUnits(text, '', decimals) : joinUnits(text.slice(0, point), text.slice(point + 1), decimals)
}

/** `parseUnits` for a text that must be an amount. Throws Failure 'bad_block'. */
export function toUnits(text: string, decimals: number): bigint {
  const units = parseUnits(text, decimals)
  if (units === undefined)
    throw new Failure('bad_block', `Amount "${text.slice(0, 100)}" is not a decimal number without sign and exponent.`)
  return units
}

/**
 * `parseUnits` that also accepts the texts that the node's parser accepts (go-iost `common/decimal.go`
 * NewDecimalFromString): token.iost 1.0.0 and gas.iost write the caller's own text into the receipt. The
 * parser stops at the last decimal, needs no digit after the point, and ignores pairs of minus signs:
 * ("1.20294517598E7", 8) → 120294517n, ("--5.", 8) → 500000000n. undefined: the text is not an amount.
 */
export function parseUnitsLeniently(text: string, decimals: number): bigint | undefined {
  const units = parseUnits(text, decimals)
  if (units !== undefined) return units
  const match = AS_READ.exec(text)
  return match === null ? undefined : joinUnits(match[1] ?? '0', match[2] ?? '', decimals)
}

const NUMBER = /^([0-9]*)(?:\.([0-9]*))?(?:e([+-]?[0-9]+))?$/i
/** Prefixes of numbers in other bases. A repeated prefix counts once (bignumber.js 7.2.1, `basePrefix`). */
const BASES = [
  { base: 16, prefix: '0x', form: /^(?:0x)+([0-9a-f]+)(?:\.([0-9a-f]*))?$/i },
  { base: 8, prefix: '0o', form: /^(?:0o)+([0-7]+)(?:\.([0-7]*))?$/i },
  { base: 2, prefix: '0b', form: /^(?:0b)+([01]+)(?:\.([01]*))?$/i },
] as const
/** Decimals that bignumber.js keeps when it converts a number from another base (DECIMAL_PLACES). */
const BASE_DECIMALS = 20

/**
 * Converts a text as contracts in JavaScript read and write amounts to the smallest unit: exponents are allowed, space
 * and a plus are dropped, and excess decimals are rounded half up (bignumber.js 7.2.1, `parseNumeric`, `toString` and
 * `toFixed`): ("4.56e-8", 8) → 5n. undefined: the text is no such number, it has a minus, or its number has more
 * digits than contracts accept.
 */
export function roundToUnits(text: string, decimals: number): bigint | undefined {
  const plain = text.trim().replace(/^\+(?=[\w.])/, '')
  const match = NUMBER.exec(plain)
  if (match === null) return parseUnitsInBase(plain, decimals)
  const [, whole = '', fraction = '', exponent = '0'] = match
  if (whole === '' && fraction === '') return undefined
  const digits = (whole + fraction).replace(/^0+/, '')
  const places = decimals - fraction.length + Number(exponent)
  // Checked first: a power of ten with a long exponent would fill the memory.
  if (digits === '' || digits.length + places < 0) return 0n
  // The greatest amount in JavaScript has 19 digits before the point (go-iost `libjs/float64.js` MaxFloat64).
  if (digits.length + places > 19 + decimals) return undefined
  if (places >= 0) return BigInt(digits) * 10n ** BigInt(places)
  return divideRounded(BigInt(digits), 10n ** BigInt(-places))
}

/** `roundToUnits` for a number in another base: ("0x1.8", 8) → 150000000n. */
function parseUnitsInBase(text: string, decimals: number): bigint | undefined {
  for (const { base, prefix, form } of BASES) {
    const [, whole, fraction = ''] = form.exec(text) ?? []
    if (whole === undefined) continue
    const digits = whole + fraction
    if (/[a-f]/.test(digits) && /[A-F]/.test(digits)) return undefined
    const scaled = BigInt(`${prefix}${digits}`) * 10n ** BigInt(BASE_DECIMALS)
    const rounded = divideRounded(scaled, BigInt(base) ** BigInt(fraction.length))
    return divideRounded(rounded * 10n ** BigInt(decimals), 10n ** BigInt(BASE_DECIMALS))
  }
  return undefined
}

/** The quotient of two numbers that are not negative, rounded half up. */
const divideRounded = (number: bigint, by: bigint): bigint => (2n * number + by) / (2n * by)

/** Smallest units as decimal text in token units: no exponent, no trailing zeros, (150000000n, 8) → "1.5". */
export function formatUnits(units: bigint, decimals: number): string {
  const sign = units < 0n ? '-' : ''
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = trimZeros(digits.slice(digits.length - decimals))
  return fraction === '' ? `${sign}${whole}` : `${sign}${whole}.${fraction}`
}

/** Digits without the zeros at their end. (`/0+$/` would try every zero as the first of the end.) */
export function trimZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  return digits.slice(0, end)
}

/** A decimal text as a whole number of units, and the number of its decimals. */
function parseDecimal(text: string) {
  const point = text.indexOf('.')
  return { units: BigInt(text.replace('.', '')), scale: point < 0 ? 0 : text.length - point - 1 }
}

/** The exact product of two decimal texts: ("1.5", "0.0051") → "0.00765". */
export function multiplyDecimals(a: string, b: string): string {
  const [one, other] = [parseDecimal(a), parseDecimal(b)]
  return formatUnits(one.units * other.units, one.scale + other.scale)
}

/** The exact sum of two decimal texts. */
export function sum(a: string, b: string): string {
  const [one, other] = [parseDecimal(a), parseDecimal(b)]
  const scale = Math.max(one.scale, other.scale)
  const at = ({ units, scale: own }: typeof one): bigint => units * 10n ** BigInt(scale - own)
  return formatUnits(at(one) + at(other), scale)
}
