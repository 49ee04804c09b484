import { Failure } from '#failure/failure.ts'
import { ALPHABET, base58Of32, bytesOf32 } from './base58-of-32.ts'

const NO_DIGIT = 255
const DIGITS = new Uint8Array(128).fill(NO_DIGIT)
for (const [digit, letter] of [...ALPHABET].entries()) DIGITS[letter.charCodeAt(0)] = digit
/** A number that is read is held in limbs of three bytes, so that a limb times four digits is exact in a double. */
const LIMB_BYTES = 3
const LIMB = 2 ** 24
/** Digits taken at once. */
const CHUNK = 4
const POWERS = Array.from({ length: CHUNK + 1 }, (_, count) => 58 ** count)
/** Digits written at once: 58^9 is the largest power of 58 under 2^53. */
const WRITTEN = 9
const WRITTEN_POWER = 58n ** BigInt(WRITTEN)

/** Multiplies the lowest `used` limbs by `factor` and adds; how many are in use then. */
// biome-ignore lint/complexity/useMaxParams: the innermost step of every hash that is read; a record would be one more object a call.
const multiplyAdd = (limbs: number[], used: number, factor: number, summand: number): number => {
  let carry = summand
  for (let at = 0; at < used; at += 1) {
    const product = (limbs[at] ?? 0) * factor + carry
    carry = Math.floor(product / LIMB)
    limbs[at] = product - carry * LIMB
  }
  if (carry === 0) return used
  limbs[used] = carry
  return used + 1
}

/** The bytes of a base58 text, each leading `1` one zero byte; undefined when a character is not of the alphabet. */
export const base58Bytes = (text: string): Uint8Array | undefined => bytesOf32(text) ?? bytesOfAny(text)

const bytesOfAny = (text: string): Uint8Array | undefined => {
  const { length } = text
  const limbs: number[] = []
  let used = 0
  for (let at = 0; at < length; at += CHUNK) {
    const end = Math.min(length, at + CHUNK)
    let value = 0
    for (let next = at; next < end; next += 1) {
      const digit = DIGITS[text.charCodeAt(next)] ?? NO_DIGIT
      if (digit === NO_DIGIT) return undefined
      value = value * 58 + digit
    }
    used = multiplyAdd(limbs, used, POWERS[end - at] ?? 1, value)
  }
  let zeros = 0
  while (text[zeros] === '1') zeros += 1
  let highest = limbs[used - 1] ?? 0
  let digits = used * LIMB_BYTES
  for (; digits > 0 && highest < 2 ** 16; highest *= 256) digits -= 1
  return bytesOf(limbs, zeros, digits)
}

/** The lowest `count` bytes of a number, highest first, behind so many zero bytes. */
const bytesOf = (limbs: readonly number[], zeros: number, count: number): Uint8Array => {
  const bytes = new Uint8Array(zeros + count)
  let place = zeros + count
  for (const limb of limbs)
    for (let shift = 0; shift < 24 && place > zeros; shift += 8) {
      place -= 1
      bytes[place] = limb >> shift
    }
  return bytes
}

/** `base58Bytes` of a text that must be base58. Throws Failure 'bad_block'. */
export const decodeBase58 = (text: string): Uint8Array => {
  const bytes = base58Bytes(text)
  if (bytes === undefined) throw new Failure('bad_block', `"${text.slice(0, 100)}" is not base58.`)
  return bytes
}

/** Base58 of bytes; "" of none. */
export const encodeBase58 = (bytes: Uint8Array): string => {
  if (bytes.length === 32) return base58Of32(bytes)
  let zeros = 0
  while (bytes[zeros] === 0) zeros += 1
  let value = zeros === bytes.length ? 0n : BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  let text = ''
  while (value > 0n) {
    let digits = Number(value % WRITTEN_POWER)
    value /= WRITTEN_POWER
    // A chunk is written whole, except the highest one: that one ends with its first digit.
    for (let place = 0; place < WRITTEN && (value > 0n || digits > 0); place += 1) {
      text = `${ALPHABET[digits % 58]}${text}`
      digits = Math.floor(digits / 58)
    }
  }
  return `${'1'.repeat(zeros)}${text}`
}
