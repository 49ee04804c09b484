import { Failure } from '#failure/failure.ts'
import { base58Bytes, parseBase58 } from './base58.ts'

/** Hashes of blocks and transactions are SHA3-256. */
const HASH_BYTES = 32
/** Base58 texts of 32 bytes have 32 (all zero) to 44 characters. */
const LETTERS = { least: 32, most: 44 }

/** The 32 bytes of a hash; undefined: the text is not a hash. */
export function hashBytes(text: string): Uint8Array | undefined {
  if (text.length < LETTERS.least || text.length > LETTERS.most) return undefined
  const bytes = base58Bytes(text)
  return bytes?.length === HASH_BYTES ? bytes : undefined
}

/**
 * First 8 bytes of a hash as a signed 64-bit integer (big endian). It finds a block or transaction; the
 * stored hash confirms the match. Throws Failure 'bad_block' for a text that is not base58 of 32 bytes.
 */
export function hash8(text: string): bigint {
  const bytes = hashBytes(text)
  if (bytes === undefined)
    throw new Failure('bad_block', `Hash "${text.slice(0, 100)}" is not base58 of ${HASH_BYTES} bytes.`)
  for (let at = 0; at < FIRST_BYTES; at += 1) first.setUint8(at, bytes[at] ?? 0)
  return first.getBigInt64(0)
}

const FIRST_BYTES = 8
/** Reused by each call: the allocation of a small array's buffer takes longer. */
const first = new DataView(new ArrayBuffer(FIRST_BYTES))

/** SHA3-256, the chain's only hash function. */
export function sha3(bytes: Uint8Array): Uint8Array {
  const digest = new Uint8Array(HASH_BYTES)
  Bun.CryptoHasher.hash('sha3-256', bytes, digest)
  return digest
}

/** Overwritten by each call. */
const pair = new Uint8Array(2 * HASH_BYTES)

/** SHA3-256 of two hashes, concatenated. */
export function computePairSha3(left: Uint8Array, right: Uint8Array): Uint8Array {
  if (left.length !== HASH_BYTES || right.length !== HASH_BYTES) return sha3(Buffer.concat([left, right]))
  pair.set(left)
  pair.set(right, HASH_BYTES)
  return sha3(pair)
}

/** A list stands for the bytes of its own encoding, after their length. */
type Part = bigint | number | string | Uint8Array | readonly Part[]

const LONG = 8
const INT = 4
/** Texts up to this length are written character by character: most are names and numbers in ASCII. */
const SHORT = 48
const NOT_ASCII = 0x80
/** A UTF-16 code unit has at most three bytes in UTF-8. */
const LETTER_BYTES = 3

/** The shared output buffer: several encodings are hashed for every block. It grows to the largest one. */
let scratch = new Uint8Array(64 * 1024)
let view = new DataView(scratch.buffer)
let utf8 = Buffer.from(scratch.buffer)

/** Grows the buffer so that it reaches `end`. */
function growBuffer(end: number): void {
  const grown = new Uint8Array(Math.max(2 * scratch.length, end))
  grown.set(scratch)
  scratch = grown
  view = new DataView(grown.buffer)
  utf8 = Buffer.from(grown.buffer)
}

/** Writes the parts one after the other; returns the position after them. */
function write(parts: readonly Part[], from: number): number {
  let at = from
  for (const part of parts) {
    if (at + LONG > scratch.length) growBuffer(at + LONG)
    if (typeof part === 'bigint') {
      view.setBigInt64(at, part)
      at += LONG
    } else if (typeof part === 'number') {
      view.setUint32(at, part)
      at += INT
    } else {
      const end = Array.isArray(part) ? write(part, at + INT) : writeBytes(part as string | Uint8Array, at + INT)
      view.setInt32(at, end - at - INT)
      at = end
    }
  }
  return at
}

/** Writes bytes, or a text as UTF-8; returns the position after them. */
function writeBytes(part: string | Uint8Array, at: number): number {
  const { length } = part
  if (at + LETTER_BYTES * length > scratch.length) growBuffer(at + LETTER_BYTES * length)
  if (typeof part !== 'string') {
    scratch.set(part, at)
    return at + length
  }
  if (length > SHORT) return at + utf8.write(part, at)
  for (let index = 0; index < length; index += 1) {
    const letter = part.charCodeAt(index)
    if (letter >= NOT_ASCII) return at + utf8.write(part, at)
    scratch[at + index] = letter
  }
  return at + length
}

/**
 * The chain's encoding of hashed data (go-iost common, SimpleEncoder): bigints as 64 and numbers as 32 bits,
 * big endian; texts, bytes and lists after their 32-bit length.
 */
export function encodeSimple(parts: readonly Part[]): Uint8Array {
  const end = write(parts, 0)
  return scratch.slice(0, end)
}

/** SHA3-256 of `encodeSimple`. */
export function hashSimple(parts: readonly Part[]): Uint8Array {
  const end = write(parts, 0)
  return sha3(scratch.subarray(0, end))
}

/** Minimum number of letters in a prefix: a shorter one matches too many hashes to look them up one by one. */
const LEAST = 10
/** Lengths of nearly all hashes in base58; one in 50,000 is shorter. */
const LENGTHS = [44, 43, 42]
/** All bits of a hash except those of its first 8 bytes. */
const OTHER_BITS = 192n
const HASHES = 2n ** 256n

/**
 * The possible `hash8` numbers of hashes whose base58 begins with a text: some 150 for 10 letters, and fewer
 * for more. Empty: no hash begins with the text, or it is too short.
 */
export function listHash8Candidates(text: string): readonly bigint[] {
  if (text.length < LEAST || text.length > Math.max(...LENGTHS)) return []
  const number = parseBase58(text)
  if (number === undefined) return []
  const found = new Set<bigint>()
  for (const length of LENGTHS.filter(each => each >= text.length)) {
    const open = 58n ** BigInt(length - text.length)
    const first = (number * open) >> OTHER_BITS
    const end = number * open + open
    const last = ((end < HASHES ? end : HASHES) - 1n) >> OTHER_BITS
    for (let at = first; at <= last; at += 1n) found.add(BigInt.asIntN(64, at))
  }
  return [...found]
}
