import { base58Bytes } from '#chain/base58.ts'
import { writeBlockTime, writeSignedTimes } from './time.ts'
import { BASE_GAS_LIMIT, CHAIN, GAS_LIMIT, GAS_RATIO, STATUS, type Tx } from './transaction.ts'
import type { Sealed, Signed } from './transaction-hash.ts'

/** Hash inputs are written into one buffer. Only the results are allocated. */
const HASH = 32
const scratch = Buffer.alloc(1 << 20)
const pair = Buffer.alloc(2 * HASH)
const pairHash = pair.subarray(0, HASH)

/** Prefixes of the scratch buffer by length. Creating one costs a tenth of hashing it. */
const beginnings: Buffer[] = []
const KEPT = 4096
function beginning(length: number): Buffer {
  if (length >= KEPT) return scratch.subarray(0, length)
  const kept = beginnings[length]
  if (kept !== undefined) return kept
  const made = scratch.subarray(0, length)
  beginnings[length] = made
  return made
}

const result = Buffer.alloc(HASH)
function sha3(bytes: Buffer, into: Buffer): void {
  Bun.CryptoHasher.hash('sha3-256', bytes, into)
}
/** Writes the SHA3-256 of the first `length` bytes of the scratch buffer into `into` at `at`. */
function hashScratch(length: number, into: Buffer, at: number): void {
  sha3(beginning(length), result)
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

/**
 * All texts together must fit into half of the scratch buffer. Receipts of the dawn are the longest, some kilobytes.
 */
export type Leaf = Pick<Tx, 'gas' | 'status' | 'message' | 'ram' | 'returns'> & {
  readonly receipts: readonly { readonly name: string; readonly content: string }[]
}

/** The offset of the transaction's hash in the encoded receipt. */
const TX_HASH_AT = 4

/** The encoded receipt. It is hashed again for transactions that only differ in their hash. */
export function encodedReceipt(tx: Leaf): Buffer {
  encode(tx, pair, 0)
  return Buffer.from(scratch.subarray(0, end))
}

/** Hash of an encoded receipt for the transaction hash at offset `at` of `hashes`. */
export function hashEncoded(receipt: Buffer, hashes: Buffer, at: number, into: Buffer): void {
  hashes.copy(receipt, TX_HASH_AT, at, at + HASH)
  sha3(receipt, result)
  result.copy(into, at, 0, HASH)
}

/** Hash of a transaction's receipt (go-iost core/tx, TxReceipt.ToBytes): a leaf of the block's receipt tree. */
export function hashReceipt(tx: Leaf, hashes: Buffer, at: number, into: Buffer): void {
  encode(tx, hashes, at)
  hashScratch(end, into, at)
}

function encode(tx: Leaf, hashes: Buffer, at: number): void {
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
}

/** The parts of a base transaction's hash input that vary. */
type HashedBase = {
  readonly height: number
  readonly seed: number
  /** Key of the parent's witness, and the parent's gas × 100. */
  readonly parent: string
  readonly gas: number
}

/** Hash of a base transaction (go-iost core/tx, Tx.ToBytes). It has no signatures, so its fields determine it. */
export function hashBase({ height, seed, parent, gas }: HashedBase, into: Buffer, at: number): void {
  end = writeBlockTime(seed, height, scratch, 0)
  long(0)
  long(GAS_RATIO)
  long(BASE_GAS_LIMIT)
  long(0)
  int(CHAIN)
  // No reserved bytes, no signers, one action.
  int(0)
  int(0)
  int(1)
  nested(() => {
    text('base.iost')
    text('exec')
    text(`[{"parent":["${parent}", "${gas}", false]}]`)
  })
  // No limits, no signatures, no referred transaction.
  int(0)
  int(0)
  int(0)
  text('base.iost')
  int(0)
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

/** The hash input of an ordinary transaction. */
type HashedTx = Signed & { readonly tx: Tx; readonly height: number }

/** Hash of an ordinary transaction (go-iost core/tx, Tx.ToBytes at level Full). */
export function hashTransaction({ tx, height, signs, publishSigns }: HashedTx, into: Buffer, at: number): void {
  end = writeSignedTimes(height, scratch, 0)
  long(GAS_RATIO)
  long(GAS_LIMIT)
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
  int(1)
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
type Head = {
  readonly height: number
  readonly roots: Buffer
  readonly witness: string
  readonly seed: number
}

/** Offsets in the encoded head. Each hash follows its length. */
const PARENT_AT = 12
const HASH_STEP = HASH + 4
const HEIGHT_AT = PARENT_AT + 3 * HASH_STEP - 4 + 6
/** Encoded heads by witness, since most of a head is the same for all blocks of a witness. */
const heads = new Map<string, { readonly bytes: Buffer; readonly timeAt: number }>()

function headOf(witness: string): { readonly bytes: Buffer; readonly timeAt: number } {
  const known = heads.get(witness)
  if (known !== undefined) return known
  end = 0
  long(1)
  for (let index = 0; index < 3; index += 1) bytes(pair, 0, HASH)
  text('{}')
  long(0)
  text(witness)
  const timeAt = end
  const made = { bytes: Buffer.from(scratch.subarray(0, end + 8)), timeAt }
  heads.set(witness, made)
  return made
}

/** The block's hash: SHA3-256 of its head (go-iost core/block, BlockHead.hash). */
export function hashHead({ height, roots, witness, seed }: Head, into: Buffer, at: number): void {
  if (height === 0) {
    hashGenesisHead(roots, witness, seed, into, at)
    return
  }
  const { bytes: head, timeAt } = headOf(witness)
  for (let index = 0; index < 3; index += 1)
    roots.copy(head, PARENT_AT + index * HASH_STEP, index * HASH, (index + 1) * HASH)
  head.writeUInt32BE(Math.floor(height / 4294967296), HEIGHT_AT)
  head.writeUInt32BE(height >>> 0, HEIGHT_AT + 4)
  writeBlockTime(seed, height, head, timeAt)
  sha3(head, result)
  result.copy(into, at, 0, HASH)
}

/** Genesis has version 0, no parent and no info. */
function hashGenesisHead(roots: Buffer, witness: string, seed: number, into: Buffer, at: number): void {
  end = 0
  long(0)
  int(0)
  bytes(roots, HASH, HASH)
  bytes(roots, 2 * HASH, HASH)
  text('')
  long(0)
  text(witness)
  end = writeBlockTime(seed, 0, scratch, end)
  hashScratch(end, into, at)
}

export const statusText = (status: number): string => STATUS[status] ?? 'UNKNOWN_ERROR'
