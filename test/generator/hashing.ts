import { base58Bytes } from '#chain/base58.ts'
import { CHAIN, GAS_RATIO, STATUS, type Tx, termsOf } from './transaction.ts'
import type { Sealed, Signed } from './transaction-hash.ts'

/** Hash inputs are written into one buffer. Only the results are allocated. */
const HASH = 32
const scratch = Buffer.alloc(1 << 20)
const pair = Buffer.alloc(2 * HASH)
const pairHash = pair.subarray(0, HASH)

const result = Buffer.alloc(HASH)
function sha3(bytes: Buffer, into: Buffer): void {
  Bun.CryptoHasher.hash('sha3-256', bytes, into)
}
/** Writes the SHA3-256 of the first `length` bytes of the scratch buffer into `into` at `at`. */
function hashScratch(length: number, into: Buffer, at: number): void {
  sha3(scratch.subarray(0, length), result)
  result.copy(into, at, 0, HASH)
}

let end = 0
function text(value: string): void {
  const written = scratch.write(value, end + 4)
  scratch.writeInt32BE(written, end)
  end += 4 + written
}
function int(value: number): void {
  end = scratch.writeInt32BE(value, end)
}
/** A 64-bit integer below 2^53, possibly negative. */
function long(value: number): void {
  end = scratch.writeInt32BE(Math.floor(value / 4294967296), end)
  end = scratch.writeUInt32BE(value >>> 0, end)
}
/** A time in nanoseconds since 1970. */
function nanoseconds(time: string): void {
  end = scratch.writeBigInt64BE(BigInt(time), end)
}
function bytes(from: Buffer, at: number, length: number): void {
  int(length)
  from.copy(scratch, end, at, at + length)
  end += length
}
/** Writes a nested part after its length. */
function nested(write: () => void): void {
  const start = end
  end += 4
  write()
  scratch.writeInt32BE(end - start - 4, start)
}

/** Hash of a transaction's receipt (go-iost core/tx, TxReceipt.ToBytes): a leaf of the block's receipt tree. All texts
 * together must fit into half of the scratch buffer. Receipts of the dawn are the longest, some kilobytes. */
export function hashReceipt(tx: Tx, hashes: Buffer, at: number, into: Buffer): void {
  end = 0
  bytes(hashes, at, HASH)
  long(tx.gas)
  nested(() => {
    int(tx.status)
    text(tx.message)
  })
  const ram = tx.ram.length > 1 ? tx.ram.toSorted(([a], [b]) => (a < b ? -1 : 1)) : tx.ram
  int(ram.length)
  for (const [payer, used] of ram) {
    text(payer)
    long(used)
  }
  int(tx.returns.length)
  for (const returned of tx.returns) text(returned)
  int(tx.receipts.length)
  for (const { name, content } of tx.receipts) {
    const start = end
    end += 4
    text(name)
    text(content)
    scratch.writeInt32BE(end - start - 4, start)
  }
  hashScratch(end, into, at)
}

function seals(signs: readonly Sealed[]): void {
  int(signs.length)
  for (const { algorithm, sig, pubKey } of signs) {
    int(1 + 4 + sig.length + 4 + pubKey.length)
    end = scratch.writeUInt8(algorithm, end)
    bytes(sig, 0, sig.length)
    bytes(pubKey, 0, pubKey.length)
  }
}

/** The hash input of a transaction. */
type HashedTx = Signed & { readonly tx: Tx; readonly height: number }

/** Hash of a transaction (go-iost core/tx, Tx.ToBytes at level Full). */
export function hashTransaction({ tx, height, signs, publishSigns }: HashedTx, into: Buffer, at: number): void {
  const { time, expiration, gasLimit, isLimited } = termsOf(tx, height)
  end = 0
  nanoseconds(time)
  nanoseconds(expiration)
  long(GAS_RATIO)
  long(gasLimit)
  long(tx.delay)
  int(CHAIN)
  // No reserved bytes.
  int(0)
  int(tx.signers.length)
  for (const signer of tx.signers) text(signer)
  int(tx.actions.length)
  for (const { contract, name, data } of tx.actions) {
    const start = end
    end += 4
    text(contract)
    text(name)
    text(data)
    scratch.writeInt32BE(end - start - 4, start)
  }
  int(isLimited ? 1 : 0)
  if (isLimited)
    nested(() => {
      text('*')
      text('unlimited')
    })
  seals(signs)
  const referred = tx.referred === '' ? undefined : base58Bytes(tx.referred)
  if (referred === undefined) int(0)
  else bytes(Buffer.from(referred), 0, referred.length)
  text(tx.publisher)
  seals(publishSigns)
  hashScratch(end, into, at)
}

/** Writes the Merkle root of the first `count` hashes of `leaves` into `into` at `at`. Overwrites `leaves`. */
export function merkleInto(leaves: Buffer, count: number, into: Buffer, at: number): void {
  let left = count
  do {
    const parents = (left + 1) >> 1
    for (let index = 0; index < parents; index += 1) {
      const from = 2 * index * HASH
      const twin = 2 * index + 1 < left ? from + HASH : from
      leaves.copy(pair, 0, from, from + HASH)
      leaves.copy(pair, HASH, twin, twin + HASH)
      sha3(pair, pairHash)
      pair.copy(leaves, index * HASH, 0, HASH)
    }
    left = parents
  } while (left > 1)
  leaves.copy(into, at, 0, HASH)
}

/** The hash input of a block's head. `roots` contains parent, transaction root and receipt root, 32 bytes each. */
type Head = { readonly height: number; readonly time: string; readonly roots: Buffer; readonly witness: string }

/**
 * The block's hash: SHA3-256 of its head (go-iost core/block, BlockHead.hash). Genesis has version 0, no parent and no
 * info.
 */
export function hashHead({ height, time, roots, witness }: Head, into: Buffer, at: number): void {
  const isGenesis = height === 0
  end = 0
  long(isGenesis ? 0 : 1)
  bytes(roots, 0, isGenesis ? 0 : HASH)
  bytes(roots, HASH, HASH)
  bytes(roots, 2 * HASH, HASH)
  text(isGenesis ? '' : '{}')
  long(height)
  text(witness)
  nanoseconds(time)
  hashScratch(end, into, at)
}

export const statusText = (status: number): string => STATUS[status] ?? 'UNKNOWN_ERROR'
