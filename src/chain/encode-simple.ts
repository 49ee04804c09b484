import { sha3 } from './hash.ts'

/** A list stands for the bytes of its own encoding, behind their length. */
type Part = bigint | number | string | Uint8Array | readonly Part[]

const LONG = 8
const INT = 4
/** Texts up to this length are written letter by letter: most are names and numbers in ASCII. */
const SHORT = 48
const NOT_ASCII = 0x80
/** A letter of UTF-16 has at most three bytes in UTF-8. */
const LETTER_BYTES = 3

/** The buffer that everything is written into: several encodings are hashed for every block. It grows to the largest one. */
let scratch = new Uint8Array(64 * 1024)
let view = new DataView(scratch.buffer)
let utf8 = Buffer.from(scratch.buffer)

/** Makes room for so many bytes from `at` on. */
const reserve = (at: number, bytes: number): void => {
  if (at + bytes <= scratch.length) return
  const grown = new Uint8Array(Math.max(2 * scratch.length, at + bytes))
  grown.set(scratch)
  scratch = grown
  view = new DataView(grown.buffer)
  utf8 = Buffer.from(grown.buffer)
}

/** Writes a text as UTF-8; answers the place behind it. */
const writeText = (text: string, at: number): number => {
  const { length } = text
  reserve(at, LETTER_BYTES * length)
  if (length > SHORT) return at + utf8.write(text, at)
  for (let index = 0; index < length; index += 1) {
    const letter = text.charCodeAt(index)
    if (letter >= NOT_ASCII) return at + utf8.write(text, at)
    scratch[at + index] = letter
  }
  return at + length
}

const write = (parts: readonly Part[], from: number): number => {
  let at = from
  for (const part of parts) {
    reserve(at, LONG)
    if (typeof part === 'bigint') {
      view.setBigInt64(at, part)
      at += LONG
    } else if (typeof part === 'number') {
      view.setUint32(at, part)
      at += INT
    } else {
      const end = writeBytes(part, at + INT)
      view.setInt32(at, end - at - INT)
      at = end
    }
  }
  return at
}

const writeBytes = (part: string | Uint8Array | readonly Part[], at: number): number => {
  if (typeof part === 'string') return writeText(part, at)
  if (!(part instanceof Uint8Array)) return write(part, at)
  reserve(at, part.length)
  scratch.set(part, at)
  return at + part.length
}

/**
 * The chain's form of what it hashes (go-iost common, SimpleEncoder): bigints as 64 and numbers as 32 bits, big endian;
 * texts, bytes and lists behind their 32-bit length.
 */
export const encodeSimple = (parts: readonly Part[]): Uint8Array => {
  const end = write(parts, 0)
  return scratch.slice(0, end)
}

/** SHA3-256 of `encodeSimple`. */
export const hashSimple = (parts: readonly Part[]): Uint8Array => {
  const end = write(parts, 0)
  return sha3(scratch.subarray(0, end))
}
