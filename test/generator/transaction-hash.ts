import { base58Bytes, encodeBase58 } from '#chain/base58.ts'
import type { TxReceipt } from '#chain/block.ts'
import type { Signature } from '#chain/head.ts'
import { statusName } from '#chain/receipt-hash.ts'
import { type HashedTransaction, transactionHash } from '#chain/transaction-hash.ts'
import { mix } from './random.ts'
import { CHAIN, GAS_RATIO, type Tx, termsOf } from './transaction.ts'

/** The place of a transaction: height of its block, and position in it, counting the base transaction. */
export type Place = { readonly height: number; readonly position: number }

/** The seed and the public keys of signatures. */
export type Seals = { readonly seed: number; readonly keys: readonly Buffer[] }

export const sealsOf = (seed: number, keys: readonly string[]): Seals => ({
  seed,
  keys: keys.map(key => Buffer.from(base58Bytes(key) ?? [])),
})

const SIGNATURE = 64
const WORD = 4

/**
 * The n-th signature of the transaction at a place. Its bytes are random: a transaction's hash covers them,
 * but nobody has the keys of a chain's accounts to check them. Real signatures take much longer.
 */
function sealed({ seed, keys }: Seals, { height, position }: Place, n: number): Signature {
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

/** The transaction as the chain hashes it. */
export function toHashed(seals: Seals, tx: Tx, place: Place): HashedTransaction {
  const { time, expiration, gasLimit, isLimited } = termsOf(tx, place.height)
  // Genesis, base transactions and the transaction that executes a delayed one have no signatures.
  const isSigned = place.height > 0 && tx.referred === '' && tx.baseTime === undefined
  return {
    time: BigInt(time),
    expiration: BigInt(expiration),
    gasRatio: GAS_RATIO,
    gasLimit,
    delay: BigInt(tx.delay),
    chainId: CHAIN,
    reserved: new Uint8Array(),
    signers: tx.signers,
    actions: tx.actions,
    amountLimit: isLimited ? [{ token: '*', value: 'unlimited' }] : [],
    signs: isSigned ? tx.signers.map((_, n) => sealed(seals, place, 1 + n)) : [],
    referredTx: base58Bytes(tx.referred) ?? new Uint8Array(),
    publisher: tx.publisher,
    publishSigns: isSigned ? [sealed(seals, place, 0)] : [],
  }
}

export const txHash = (seals: Seals, tx: Tx, place: Place): string =>
  encodeBase58(transactionHash(toHashed(seals, tx, place)))

export const toReceipt = ({ gas, ram, status, message, returns, receipts }: Tx): TxReceipt => ({
  gasUsage: BigInt(gas),
  ramUsage: ram.map(([payer, bytes]) => [payer, BigInt(bytes)]),
  statusCode: statusName(status),
  message,
  returns,
  receipts,
})
