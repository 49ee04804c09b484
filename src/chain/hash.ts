import { Failure } from '#failure/failure.ts'
import { base58Bytes } from './base58.ts'

/** Hashes of blocks and transactions are SHA3-256. */
const HASH_BYTES = 32
/** Base58 texts of 32 bytes have 32 (all zero) to 44 characters. */
const LETTERS = { least: 32, most: 44 }

/** The 32 bytes of a hash, undefined when the text is none. */
export const hashBytes = (text: string): Uint8Array | undefined => {
  if (text.length < LETTERS.least || text.length > LETTERS.most) return undefined
  const bytes = base58Bytes(text)
  return bytes?.length === HASH_BYTES ? bytes : undefined
}

/**
 * First 8 bytes of a hash as a signed 64-bit integer (big endian): finds a block or transaction, the stored hash
 * confirms it. Throws Failure 'bad_block' for a text that is not base58 of 32 bytes.
 */
export const hash8 = (text: string): bigint => {
  const bytes = hashBytes(text)
  if (bytes === undefined)
    throw new Failure('bad_block', `Hash "${text.slice(0, 100)}" is not base58 of ${HASH_BYTES} bytes.`)
  for (let at = 0; at < FIRST_BYTES; at += 1) first.setUint8(at, bytes[at] ?? 0)
  return first.getBigInt64(0)
}

const FIRST_BYTES = 8
/** Written over by each call: the buffer of a small array of its own is made only when it is asked for, which takes longer. */
const first = new DataView(new ArrayBuffer(FIRST_BYTES))

/** SHA3-256, the chain's only hash function. */
export const sha3 = (bytes: Uint8Array): Uint8Array => {
  const digest = new Uint8Array(HASH_BYTES)
  Bun.CryptoHasher.hash('sha3-256', bytes, digest)
  return digest
}

/** Written over by each call. */
const pair = new Uint8Array(2 * HASH_BYTES)

/** SHA3-256 of two hashes, one behind the other. */
export const sha3OfPair = (left: Uint8Array, right: Uint8Array): Uint8Array => {
  if (left.length !== HASH_BYTES || right.length !== HASH_BYTES) return sha3(Buffer.concat([left, right]))
  pair.set(left)
  pair.set(right, HASH_BYTES)
  return sha3(pair)
}
