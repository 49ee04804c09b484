import { Failure } from '#failure/failure.ts'
import { base58Bytes } from './base58.ts'

/** Hashes of blocks and transactions are SHA3-256. */
const HASH_BYTES = 32
/** Base58 texts of 32 bytes have 32 (all zero) to 44 characters. */
const HASH_LETTERS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/

/** The 32 bytes of a hash, undefined when the text is none. */
export const hashBytes = (text: string): Uint8Array | undefined => {
  if (!HASH_LETTERS.test(text)) return undefined
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
  return new DataView(bytes.buffer, bytes.byteOffset).getBigInt64(0)
}

/** SHA3-256, the chain's only hash function. */
export const sha3 = (...parts: readonly Uint8Array[]): Uint8Array => {
  const hasher = new Bun.CryptoHasher('sha3-256')
  for (const part of parts) hasher.update(part)
  return new Uint8Array(hasher.digest().buffer)
}
