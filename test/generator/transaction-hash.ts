import { base58Bytes } from '#chain/base58.ts'
import { base58Of32 } from './base58.ts'
import { mix, scramble, unscramble } from './random.ts'

/** Transactions of one block are fewer than this. */
const POSITIONS = 65_536
const HASH_BYTES = 32

/**
 * Writes the hash of the transaction at (height, position). Nobody can tell a transaction's hash from the node's JSON
 * (signatures are not in it), so it need not be one: the place is scrambled into the first 8 bytes, the rest is drawn,
 * and the hash tells where the transaction stands.
 */
export const writeTxHash = (
  seed: number,
  height: number,
  position: number,
  into: Buffer,
  at: number,
): void => {
  const high = Math.floor(height / 2 ** 32)
  const [left, right] = scramble(seed, height, high * POSITIONS + position)
  into.writeUInt32BE(left, at)
  into.writeUInt32BE(right, at + 4)
  let drawn = mix(seed, 31, height, position)
  for (let word = 8; word < HASH_BYTES; word += 4) {
    drawn = mix(drawn, word, left, right)
    into.writeUInt32BE(drawn, at + word)
  }
}

export const txHash = (seed: number, height: number, position: number): string => {
  const bytes = Buffer.alloc(HASH_BYTES)
  writeTxHash(seed, height, position, bytes, 0)
  return base58Of32(bytes)
}

/** Where the transaction of a hash stands, undefined when no transaction has it. */
export const placeOfHash = (
  seed: number,
  hash: string,
): { readonly height: number; readonly position: number } | undefined => {
  const bytes = base58Bytes(hash)
  if (bytes?.length !== HASH_BYTES) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  const [low, rest] = unscramble(seed, view.getUint32(0), view.getUint32(4))
  const height = Math.floor(rest / POSITIONS) * 2 ** 32 + low
  const position = rest % POSITIONS
  return txHash(seed, height, position) === hash ? { height, position } : undefined
}
