import { base58Bytes } from '#chain/base58.ts'
import { base58Of32 } from './base58.ts'
import { hashTransaction } from './hashing.ts'
import { mix } from './random.ts'
import type { Tx } from './transaction.ts'

/** Where a transaction stands: height of its block, and position in it, the base transaction included. */
export type Place = { readonly height: number; readonly position: number }

/** A signature in the form of the node's storage: algorithm 2 is ed25519. */
export type Sealed = { readonly algorithm: 2; readonly sig: Buffer; readonly pubKey: Buffer }

/** What transactions are signed with. */
export type Seals = { readonly seed: number; readonly keys: readonly Buffer[] }

export const sealsOf = (seed: number, keys: readonly string[]): Seals => ({
  seed,
  keys: keys.map(key => Buffer.from(base58Bytes(key) ?? [])),
})

const SIGNATURE = 64
const WORD = 4
const NONE: readonly Sealed[] = []

/**
 * The n-th signature of the transaction at a place. Its bytes are drawn: a transaction's hash covers them, and nobody has
 * the keys of a chain's accounts to check them with; to sign would cost many times what all else of a transaction does.
 */
const sealed = ({ seed, keys }: Seals, { height, position }: Place, n: number): Sealed => {
  const sig = Buffer.allocUnsafe(SIGNATURE)
  let drawn = mix(seed, 31 + n, height, position)
  const pubKey = keys[drawn % keys.length] ?? sig
  for (let at = 0; at < SIGNATURE; at += WORD) {
    // Marsaglia's xorshift of 32 bits.
    drawn ^= drawn << 13
    drawn ^= drawn >>> 17
    drawn ^= drawn << 5
    sig.writeInt32BE(drawn, at)
  }
  return { algorithm: 2, sig, pubKey }
}

/** Signatures of a transaction: by its signers, and by its publisher. */
export type Signed = { readonly signs: readonly Sealed[]; readonly publishSigns: readonly Sealed[] }

/** Genesis has none, nor has what carries a delayed transaction out. */
export const signedOf = (seals: Seals, tx: Tx, place: Place): Signed =>
  place.height === 0 || tx.referred !== ''
    ? { signs: NONE, publishSigns: NONE }
    : {
        signs: tx.signers.length === 0 ? NONE : tx.signers.map((_, n) => sealed(seals, place, 1 + n)),
        publishSigns: [sealed(seals, place, 0)],
      }

/** Writes the hash of a transaction, as the chain makes it, into `into` at `at`. */
export const writeTxHash = (seals: Seals, tx: Tx, place: Place, into: Buffer, at: number): void =>
  hashTransaction({ tx, height: place.height, ...signedOf(seals, tx, place) }, into, at)

const HASH_BYTES = 32

/** The same in base58. */
export const txHash = (seals: Seals, tx: Tx, place: Place): string => {
  const bytes = Buffer.alloc(HASH_BYTES)
  writeTxHash(seals, tx, place, bytes, 0)
  return base58Of32(bytes)
}
