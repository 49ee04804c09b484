import { Failure } from '#failure/failure.ts'

/** Bitcoin's alphabet, as go-iost uses it. */
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const BASE = 58
/** Regular expression for one letter of the alphabet. */
export const BASE58_LETTER = '[1-9A-HJ-NP-Za-km-z]'
const LETTERS = Uint8Array.from(ALPHABET, letter => letter.charCodeAt(0))
const FIRST_LETTER = ALPHABET.charCodeAt(0)

const BYTES = 32
/** The number is read in limbs of two bytes and written in groups of five letters. */
const LIMBS = BYTES / 2
const LETTERS_OF_GROUP = 5
const GROUPS = 9
const GROUP = BASE ** LETTERS_OF_GROUP
/** Letters are written two at a time. */
const PAIR = BASE * BASE
const PAIRS = Array.from({ length: PAIR }, (_, pair) => [Math.floor(pair / BASE), pair % BASE] as const)
const LEFT = Uint8Array.from(PAIRS, ([left]) => LETTERS[left] ?? 0)
const RIGHT = Uint8Array.from(PAIRS, ([, right]) => LETTERS[right] ?? 0)

/**
 * Contribution of one unit in a limb to each group, limb by limb. A sum over all limbs stays below 16 · 2^16
 * · 58^5 < 2^50. It is therefore exact in a double, and only the sums have to be carried.
 */
const WEIGHTS = Float64Array.from({ length: LIMBS * GROUPS }, (_, at) => {
  const limb = Math.floor(at / GROUPS)
  const group = at % GROUPS
  const one = 2n ** BigInt(16 * (LIMBS - 1 - limb))
  return Number((one / BigInt(GROUP) ** BigInt(GROUPS - 1 - group)) % BigInt(GROUP))
})

/** The same for reading: contribution of one unit in a group to each limb. A sum stays below 9 · 58^5 · 2^16 < 2^50. */
const LIMB = 2 ** 16
const READ_WEIGHTS = Float64Array.from({ length: GROUPS * LIMBS }, (_, at) => {
  const group = Math.floor(at / LIMBS)
  const limb = at % LIMBS
  const one = BigInt(GROUP) ** BigInt(GROUPS - 1 - group)
  return Number((one / BigInt(LIMB) ** BigInt(LIMBS - 1 - limb)) % BigInt(LIMB))
})
/** The highest limb to which a group contributes. */
const HIGHEST = Array.from({ length: GROUPS }, (_, group) => {
  const row = READ_WEIGHTS.subarray(group * LIMBS, (group + 1) * LIMBS)
  return row.findIndex(weight => weight > 0)
})
const NO_DIGIT = 255
const DIGITS = new Uint8Array(128).fill(NO_DIGIT)
for (const [digit, letter] of LETTERS.entries()) DIGITS[letter] = digit

const limbs = new Float64Array(LIMBS)
const groups = new Float64Array(GROUPS)
const text = Buffer.alloc(GROUPS * LETTERS_OF_GROUP)

/** Base58 of 32 bytes, ten times faster than of any number: hashes and keys come by the hundred thousand. */
export function base58Of32(bytes: Uint8Array): string {
  sumGroups(bytes)
  let carry = 0
  for (let group = GROUPS - 1; group >= 0; group -= 1) {
    const sum = (groups[group] ?? 0) + carry
    carry = Math.floor(sum / GROUP)
    writeGroup(group * LETTERS_OF_GROUP, sum - carry * GROUP)
  }
  // Leading `1` letters are padding here; each leading zero byte is written as one `1`.
  let start = 0
  while (text[start] === FIRST_LETTER) start += 1
  let zeros = 0
  while (zeros < BYTES && bytes[zeros] === 0) zeros += 1
  const written = text.toString('latin1', start)
  return zeros === 0 ? written : '1'.repeat(zeros) + written
}

function sumGroups(bytes: Uint8Array): void {
  groups.fill(0)
  for (let limb = 0; limb < LIMBS; limb += 1) {
    const value = (bytes[2 * limb] ?? 0) * 256 + (bytes[2 * limb + 1] ?? 0)
    const row = limb * GROUPS
    // The limb does not reach the groups before.
    for (let group = limb >> 1; group < GROUPS; group += 1)
      groups[group] = (groups[group] ?? 0) + value * (WEIGHTS[row + group] ?? 0)
  }
}

function writeGroup(at: number, value: number): void {
  const high = (value / PAIR) | 0
  const low = value - high * PAIR
  const first = (high / PAIR) | 0
  const middle = high - first * PAIR
  text[at] = LETTERS[first] ?? 0
  text[at + 1] = LEFT[middle] ?? 0
  text[at + 2] = RIGHT[middle] ?? 0
  text[at + 3] = LEFT[low] ?? 0
  text[at + 4] = RIGHT[low] ?? 0
}

/**
 * Decodes a text of 43 or 44 letters, the usual lengths of 32 bytes, in half the time of the general case. undefined:
 * another length, a letter outside the alphabet, a leading zero, or a number that does not have exactly 32 bytes.
 */
export function bytesOf32(letters: string): Uint8Array | undefined {
  const missing = text.length - letters.length
  if (missing < 1 || missing > 2 || letters.charCodeAt(0) === FIRST_LETTER) return undefined
  if (!sumLimbs(letters, missing)) return undefined
  const bytes = new Uint8Array(BYTES)
  let carry = 0
  for (let limb = LIMBS - 1; limb >= 0; limb -= 1) {
    const sum = (limbs[limb] ?? 0) + carry
    carry = Math.floor(sum / LIMB)
    const value = sum - carry * LIMB
    bytes[2 * limb] = value >> 8
    bytes[2 * limb + 1] = value
  }
  return carry === 0 && bytes[0] !== 0 ? bytes : undefined
}

/** false: a letter is not in the alphabet. */
function sumLimbs(letters: string, missing: number): boolean {
  limbs.fill(0)
  let at = 0
  for (let group = 0; group < GROUPS; group += 1) {
    let value = 0
    for (const end = (group + 1) * LETTERS_OF_GROUP - missing; at < end; at += 1) {
      const digit = DIGITS[letters.charCodeAt(at)] ?? NO_DIGIT
      if (digit === NO_DIGIT) return false
      value = value * BASE + digit
    }
    const row = group * LIMBS
    for (let limb = HIGHEST[group] ?? 0; limb < LIMBS; limb += 1)
      limbs[limb] = (limbs[limb] ?? 0) + value * (READ_WEIGHTS[row + limb] ?? 0)
  }
  return true
}

/** Number of letters read or written at once: 58^9 is the largest power of 58 under 2^53. */
const CHUNK = 9
const CHUNK_POWER = 58n ** BigInt(CHUNK)

/** The number that letters of the alphabet write; undefined: another letter. */
export function parseBase58(letters: string): bigint | undefined {
  let number = 0n
  for (let at = 0; at < letters.length; at += CHUNK) {
    const end = Math.min(letters.length, at + CHUNK)
    let value = 0
    for (let next = at; next < end; next += 1) {
      const digit = DIGITS[letters.charCodeAt(next)] ?? NO_DIGIT
      if (digit === NO_DIGIT) return undefined
      value = value * BASE + digit
    }
    number = number * (end - at === CHUNK ? CHUNK_POWER : 58n ** BigInt(end - at)) + BigInt(value)
  }
  return number
}

/** The bytes of a base58 text; each leading `1` is a zero byte. undefined: letters outside the alphabet. */
export const base58Bytes = (text: string): Uint8Array | undefined => bytesOf32(text) ?? decodeAnyBase58(text)

function decodeAnyBase58(text: string): Uint8Array | undefined {
  const number = parseBase58(text)
  if (number === undefined) return undefined
  let zeros = 0
  while (text[zeros] === '1') zeros += 1
  const digits = number === 0n ? '' : number.toString(16)
  return Uint8Array.fromHex(`${'00'.repeat(zeros)}${digits.length % 2 === 0 ? '' : '0'}${digits}`)
}

/** `base58Bytes` for a text that must be base58. Throws Failure 'bad_block'. */
export function decodeBase58(text: string): Uint8Array {
  const bytes = base58Bytes(text)
  if (bytes === undefined) throw new Failure('bad_block', `"${text.slice(0, 100)}" is not base58.`)
  return bytes
}

/** Base58 of bytes; "" for no bytes. */
export function encodeBase58(bytes: Uint8Array): string {
  if (bytes.length === 32) return base58Of32(bytes)
  let zeros = 0
  while (bytes[zeros] === 0) zeros += 1
  let value = zeros === bytes.length ? 0n : BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  let text = ''
  while (value > 0n) {
    let digits = Number(value % CHUNK_POWER)
    value /= CHUNK_POWER
    // A chunk is written in full, except the highest one, which ends with its first digit.
    for (let place = 0; place < CHUNK && (value > 0n || digits > 0); place += 1) {
      text = `${ALPHABET[digits % 58]}${text}`
      digits = Math.floor(digits / 58)
    }
  }
  return `${'1'.repeat(zeros)}${text}`
}
