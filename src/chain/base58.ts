import { Failure } from '#failure/failure.ts'

/** Bitcoin's alphabet, as go-iost uses it. */
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const DIGITS: ReadonlyMap<string, number> = new Map([...ALPHABET].map((letter, digit) => [letter, digit]))
/** Digits taken at once: 58^9 is the largest power of 58 under 2^53. */
const CHUNK = 9
const POWERS = Array.from({ length: CHUNK + 1 }, (_, count) => 58 ** count)
const CHUNK_POWER = 58n ** BigInt(CHUNK)

const decodeChunk = (text: string): number | undefined => {
  let value = 0
  for (const letter of text) {
    const digit = DIGITS.get(letter)
    if (digit === undefined) return undefined
    value = value * 58 + digit
  }
  return value
}

/** The bytes of a base58 text, each leading `1` one zero byte; undefined when a letter is not of the alphabet. */
export const base58Bytes = (text: string): Uint8Array | undefined => {
  let value = 0n
  for (let at = 0; at < text.length; at += CHUNK) {
    const part = text.slice(at, at + CHUNK)
    const digits = decodeChunk(part)
    if (digits === undefined) return undefined
    value = value * (part.length === CHUNK ? CHUNK_POWER : BigInt(POWERS[part.length] ?? 1)) + BigInt(digits)
  }
  let zeros = 0
  while (text[zeros] === '1') zeros += 1
  const hex = value === 0n ? '' : value.toString(16)
  const digits = hex.length % 2 === 0 ? hex : `0${hex}`
  const bytes = new Uint8Array(zeros + digits.length / 2)
  bytes.set(Buffer.from(digits, 'hex'), zeros)
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
  let zeros = 0
  while (bytes[zeros] === 0) zeros += 1
  let value = zeros === bytes.length ? 0n : BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  let text = ''
  while (value > 0n) {
    let digits = Number(value % CHUNK_POWER)
    value /= CHUNK_POWER
    // A chunk is written whole, except the highest one: that one ends with its first digit.
    for (let place = 0; place < CHUNK && (value > 0n || digits > 0); place += 1) {
      text = `${ALPHABET[digits % 58]}${text}`
      digits = Math.floor(digits / 58)
    }
  }
  return `${'1'.repeat(zeros)}${text}`
}
