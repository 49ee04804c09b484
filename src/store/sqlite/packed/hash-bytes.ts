import { base58Bytes } from '#chain/base58.ts'
import { base58Of32 } from '#chain/base58-of-32.ts'

const BYTES = 32
/** 32 bytes in base58 have no more. */
const MOST_LETTERS = 44

/** The 32 bytes of a hash or key; undefined: the text is none, and is stored as it is. */
export const bytesOfHash = (text: string): Uint8Array | undefined => {
  const bytes = text.length > MOST_LETTERS ? undefined : base58Bytes(text)
  return bytes?.length === BYTES ? bytes : undefined
}

/** The same of hashes joined by one space, one after the other. */
export const bytesOfHashes = (text: string): Uint8Array | undefined => {
  const hashes = text.split(' ')
  const bytes = new Uint8Array(hashes.length * BYTES)
  for (const [at, hash] of hashes.entries()) {
    const own = bytesOfHash(hash)
    if (own === undefined) return undefined
    bytes.set(own, at * BYTES)
  }
  return bytes
}

/** The text of `bytesOfHash`; undefined: the bytes are damaged. */
export const hashOfBytes = (bytes: Uint8Array): string | undefined =>
  bytes.length === BYTES ? base58Of32(bytes) : undefined

/** The text of `bytesOfHashes`; undefined: the bytes are damaged. */
export const hashesOfBytes = (bytes: Uint8Array): string | undefined => {
  if (bytes.length === 0 || bytes.length % BYTES !== 0) return undefined
  let text = base58Of32(bytes.subarray(0, BYTES))
  for (let at = BYTES; at < bytes.length; at += BYTES)
    text += ` ${base58Of32(bytes.subarray(at, at + BYTES))}`
  return text
}
