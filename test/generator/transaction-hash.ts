import { base58Bytes, base58Of32 } from '#chain/base58.ts'
import { hashTransaction } from './hashing.ts'
import { mix } from './random.ts'
import type { Tx } from './transaction.ts'

/** The place of a transaction: height of its block, and position in it, counting the base transaction. */
export type Place = { readonly height: number; readonly position: number }

/** A signature in the node's storage format. Algorithm 2 is ed25519. */
export type Sealed = { readonly algorithm: 2; readonly sig: Buffer; readonly pubKey: Buffer }

/** The seed and the public keys of signatures. */
export type Seals = { readonly seed: number; readonly keys: readonly Buffer[] }

export const sealsOf = (seed: number, keys: readonly string[]): Seals => ({
  seed,
  keys: keys.map(key => Buffer.from(base58Bytes(key) ?? [])),
})

const SIGNATURE = 64
const WORD = 4
const NONE: readonly Sealed[] = []

/**
 * The n-th signature of the transaction at a place. Its bytes are random: a transaction's hash covers them,
 * but nobody has the keys of a chain's accounts to check them. Real signatures would take many times as long
 * as everything else of a transaction.
 */
function sealed({ seed, keys }: Seals, { height, position }: Place, n: number): Sealed {
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

/** Signatures of a transaction: those of its signers, and those of its publisher. */
export type Signed = { readonly signs: readonly Sealed[]; readonly publishSigns: readonly Sealed[] }

/** Genesis, base transactions and the transaction that executes a delayed one have no signatures. */
export const signedOf = (seals: Seals, tx: Tx, place: Place): Signed =>
  place.height === 0 || tx.referred !== '' || tx.baseTime !== undefined
    ? { signs: NONE, publishSigns: NONE }
    : {
        signs: tx.signers.length === 0 ? NONE : tx.signers.map((_, n) => sealed(seals, place, 1 + n)),
        publishSigns: [sealed(seals, place, 0)],
      }

/** Writes the hash of a transaction, computed as on the chain, into `into` at `at`. */
export const writeTxHash = (seals: Seals, tx: Tx, place: Place, into: Buffer, at: number): void =>
  hashTransaction({ tx, height: place.height, ...signedOf(seals, tx, place) }, into, at)

const HASH_BYTES = 32

/** The hash of a transaction in base58. */
export function txHash(seals: Seals, tx: Tx, place: Place): string {
  const bytes = Buffer.alloc(HASH_BYTES)
  writeTxHash(seals, tx, place, bytes, 0)
  return base58Of32(bytes)
}
