import { Failure } from '#failure/failure.ts'
import { encodeBase58 } from './base58.ts'
import type { Block, Transaction, TxReceipt } from './block.ts'
import type { RawBlock } from './decode.ts'
import { computePairSha3, hashBytes } from './hash.ts'
import { headHash, infoForms, type RawHead } from './head.ts'
import { tryParseJson } from './json.ts'
import { isShownReceipt, mayHaveLost, receiptHash, restoreCutMessage } from './receipt-hash.ts'
import { differingField, toHashedTransaction, transactionHash } from './transaction-hash.ts'

/** `rule`: the broken rule, if a caller distinguishes it. */
const bad = (block: Block, reason: string, rule?: string): Failure =>
  new Failure('bad_block', `Block ${block.height}: ${reason}.`, {
    details: { height: block.height, ...(rule && { rule }) },
  })

const NOTHING = new Uint8Array()

/** Publisher of the first transaction of every block but genesis. */
const BASE_PUBLISHER = 'base.iost'

/** `details.rule` of the Failure for a head without the block's hash; the bytes of `info` may be unknown. */
export const OWN_HASH = 'own hash'

/** `details.rule` of the Failure for a block with a different parent. */
export const PARENT_HASH = 'parent hash'

/** Known facts about a block besides the node's JSON. */
type KnownParts = {
  /** Bytes of `info` in its head, from the raw head; otherwise they must have a known form. */
  readonly info?: Uint8Array
  /** Raw receipts, by position, whose bytes the node's JSON has lost; `later`: they are checked later. */
  readonly receipts?: ReadonlyMap<number, TxReceipt> | 'later'
  /** The head with the block's roots: its bytes are compared, not their texts. */
  readonly head?: Pick<RawHead, 'txMerkleHash' | 'txReceiptMerkleHash'>
}

/** Where a block must be: its parent's hash, if it has a parent that is known, and the requested height. */
type ExpectedPlace = { readonly parentHash?: string | undefined; readonly height?: number }

/**
 * Checks that a block is complete and follows its parent: height, parent hash, transaction count, its own
 * hash from its head, the Merkle roots of its transactions and of their receipts, and its base transaction's
 * own hash. Throws Failure 'bad_block' with height and reason.
 */
export function checkBlock(
  block: Block,
  { parentHash, height = block.height }: ExpectedPlace,
  known: KnownParts = {},
): void {
  if (block.height !== height) throw bad(block, `block ${height} was requested`)
  if (hashBytes(block.hash) === undefined) throw bad(block, `hash "${block.hash.slice(0, 60)}" is not a hash`)
  if (height === 0 ? block.parentHash !== '' : hashBytes(block.parentHash) === undefined)
    throw bad(block, `parent hash "${block.parentHash.slice(0, 60)}" is not a hash`)
  if (parentHash !== undefined && block.parentHash !== parentHash)
    throw bad(block, `parent hash is ${block.parentHash}, block ${height - 1} has ${parentHash}`, PARENT_HASH)
  if (block.txCount !== block.transactions.length)
    throw bad(block, `${block.transactions.length} of ${block.txCount} transactions`)
  checkContents(block, known)
  if (!isOwnHead(block, known.info)) throw bad(block, `its head does not have the hash ${block.hash}`, OWN_HASH)
}

/**
 * The checks of `checkBlock` that remain for a block whose hash was computed from its raw head: the data that
 * the head covers.
 */
export function checkContents(block: Block, known: KnownParts = {}): void {
  const hashes = transactionHashes(block, known)
  checkReceipts(block, hashes, known)
  if (block.height === 0) return
  const [base] = block.transactions
  if (base?.publisher !== BASE_PUBLISHER)
    throw bad(block, `first transaction is published by "${base?.publisher ?? ''}", not by ${BASE_PUBLISHER}`)
  // The base transaction has no signatures, so its hash is that of its text.
  const hash = transactionHash(toHashedTransaction(base))
  if (!isSame(hash, hashes[0] ?? NOTHING))
    throw bad(block, `base transaction ${base.hash} has a text with the hash ${encodeBase58(hash)}`)
}

/** Whether the hash is its head's: with the bytes of `info` if known, else with any that nodes show so. */
function isOwnHead(block: Block, info: Uint8Array | undefined): boolean {
  const bytes = (text: string) => hashBytes(text) ?? new Uint8Array()
  const head = {
    version: BigInt(block.version),
    parentHash: bytes(block.parentHash),
    txMerkleHash: bytes(block.txMerkleHash),
    txReceiptMerkleHash: bytes(block.txReceiptMerkleHash),
    height: block.height,
    witness: block.witness,
    time: block.time,
  }
  const shown = infoForms(block)
  const forms = info === undefined ? shown.map(text => Buffer.from(text)) : [info]
  const hidden = block.info === '{}' && block.origInfo === ''
  if (info !== undefined && !hidden && !shown.includes(Buffer.from(info).toString())) return false
  return forms.some(form => headHash({ ...head, info: form }) === block.hash)
}

const isSame = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0

/** Whether a root is that of a block's head: `text` of the block, or the very bytes if they are known. */
const isRoot = (root: Uint8Array, text: string, bytes: Uint8Array | undefined): boolean =>
  bytes === undefined ? encodeBase58(root) === text : isSame(root, bytes)

function transactionHashes(block: Block, { head }: KnownParts): readonly Uint8Array[] {
  const hashes = block.transactions.map(({ hash }) => {
    const bytes = hashBytes(hash)
    if (bytes === undefined) throw bad(block, `transaction hash "${hash.slice(0, 60)}" is not a hash`)
    return bytes
  })
  const root = merkleRoot(hashes)
  if (!isRoot(root, block.txMerkleHash, head?.txMerkleHash))
    throw bad(block, `merkle root of its transactions is ${encodeBase58(root)}, but its head has ${block.txMerkleHash}`)
  return hashes
}

function checkReceipts(block: Block, hashes: readonly Uint8Array[], { receipts: raw, head }: KnownParts): void {
  if (raw === 'later') return
  const leaves = block.transactions.map(({ hash, receipt }, index) => {
    const whole = raw?.get(index)
    if (whole !== undefined && !isShownReceipt(receipt, whole))
      throw bad(block, `receipt of transaction ${hash} differs in the raw block`)
    const leaf = receiptHash(hashes[index] ?? NOTHING, whole ?? receipt)
    if (leaf === undefined)
      throw bad(block, `transaction ${hash} has status "${receipt.statusCode.slice(0, 60)}", which is not a status`)
    return leaf
  })
  const root = merkleRoot(leaves)
  if (!isRoot(root, block.txReceiptMerkleHash, head?.txReceiptMerkleHash))
    throw bad(
      block,
      `merkle root of its receipts is ${encodeBase58(root)}, but its head has ${block.txReceiptMerkleHash}`,
    )
}

/**
 * Restores the bytes that were cut off the message of the receipt at `index`. They are proved: with them the
 * Merkle root of the receipts is that of the head. undefined: no such bytes were found.
 */
export function restoredReceipt(block: Block, index: number): TxReceipt | undefined {
  const leaves = block.transactions.map(
    ({ hash, receipt }) => receiptHash(hashBytes(hash) ?? NOTHING, receipt) ?? NOTHING,
  )
  const tx = block.transactions[index]
  if (tx === undefined) return undefined
  const hash = hashBytes(tx.hash) ?? NOTHING
  const root = hashBytes(block.txReceiptMerkleHash) ?? NOTHING
  const path = merklePath(leaves, index)
  return restoreCutMessage(hash, tx.receipt, leaf => isSame(computeRootOnPath(path, leaf), root))
}

/** Positions of the receipts that may have lost bytes in the node's JSON. */
export const lossyReceipts = ({ transactions }: Block): readonly number[] =>
  transactions.flatMap(({ receipt }, index) => (mayHaveLost(receipt) ? [index] : []))

/**
 * Checks a block's base transaction against its parent: it contains the parent's witness and gas × 100.
 * Throws Failure 'bad_block'.
 */
export function checkBaseTransaction(block: Block, parent: Block): void {
  const data = tryParseJson(block.transactions[0]?.actions[0]?.data ?? '')
  const stated = Array.isArray(data) ? (data[0] as { readonly parent?: unknown } | null)?.parent : undefined
  if (!Array.isArray(stated)) throw bad(block, 'base transaction does not name the parent')
  const gas = parent.transactions.reduce((sum, { receipt }) => sum + receipt.gasUsage, 0n)
  if (stated[0] !== parent.witness || stated[1] !== String(gas))
    throw bad(
      block,
      `base transaction says witness ${stated[0]} and gas ${stated[1]} of its parent, block ${parent.height} has ${parent.witness} and ${gas}`,
    )
}

/**
 * Checks a block for which one node's JSON is the only source: its head has its hash, and the roots in it are those of
 * its transactions and receipts. The message of one receipt may have been cut inside a character if the root identifies
 * the missing bytes; other lost bytes are errors. Throws Failure 'bad_block'.
 */
export function checkAlone(block: Block, expected: ExpectedPlace = {}): void {
  try {
    checkBlock(block, expected)
  } catch (error) {
    const [only, ...more] = lossyReceipts(block)
    const receipt = only === undefined || more.length > 0 ? undefined : restoredReceipt(block, only)
    if (only === undefined || receipt === undefined) throw error
    checkBlock(block, expected, { receipts: new Map([[only, receipt]]) })
  }
}

/** Whether a block's hash proves all its texts: it has only the base transaction, without signatures. */
export const isWholeByItself = ({ height, transactions }: Block): boolean => height > 0 && transactions.length === 1

/**
 * Checks that the text of each transaction matches its hash, by the raw form, which has the signatures that
 * the hash covers. Throws Failure 'bad_block' with the transaction and its field.
 */
export function checkWhole(block: Block, raw: RawBlock): void {
  if (raw.transactions.length !== block.transactions.length)
    throw bad(block, `${raw.transactions.length} of ${block.transactions.length} transactions in the raw block`)
  for (const transaction of block.transactions) requireWhole(block, raw, transaction)
}

/** `checkWhole` for one transaction of the block. Throws Failure 'bad_block'. */
export function requireWhole(block: Block, raw: RawBlock, transaction: Transaction): void {
  const index = block.transactions.indexOf(transaction)
  const hashed = raw.transactions[index]
  if (hashed === undefined || encodeBase58(transactionHash(hashed)) !== transaction.hash)
    throw bad(block, `transaction ${index} of the raw block does not have the hash ${transaction.hash}`)
  const field = differingField(transaction, hashed)
  if (field !== undefined) throw bad(block, `${field} of transaction ${transaction.hash} differs in the raw block`)
}

function hashLevel(level: readonly Uint8Array[]): readonly Uint8Array[] {
  const parents: Uint8Array[] = []
  for (let at = 0; at < level.length; at += 2) {
    const left = level[at] ?? new Uint8Array()
    parents.push(computePairSha3(left, level[at + 1] ?? left))
  }
  return parents
}

/**
 * Root of the chain's Merkle tree: SHA3-256 over pairs, level by level. A missing right node repeats the left
 * one; a single leaf is h(l‖l). Without leaves the root has no bytes (go-iost core/merkletree).
 */
export function merkleRoot(leaves: readonly Uint8Array[]): Uint8Array {
  if (leaves.length === 0) return new Uint8Array()
  let level = leaves
  do level = hashLevel(level)
  while (level.length > 1)
  return level[0] ?? new Uint8Array()
}

/** The siblings of the leaf at `index`, by level: neighbour and side; no neighbour: the node itself. */
type MerklePath = readonly { readonly neighbour: Uint8Array | undefined; readonly isLeft: boolean }[]

/** The path of one leaf. With it, the root for another leaf in the same place takes one hash per level. */
function merklePath(leaves: readonly Uint8Array[], index: number): MerklePath {
  const path: MerklePath[number][] = []
  let level = leaves
  let at = index
  do {
    const isLeft = at % 2 === 1
    path.push({ neighbour: level[isLeft ? at - 1 : at + 1], isLeft })
    level = hashLevel(level)
    at = Math.floor(at / 2)
  } while (level.length > 1)
  return path
}

/** The root of the tree with `leaf` at the path's place. */
const computeRootOnPath = (path: MerklePath, leaf: Uint8Array): Uint8Array =>
  path.reduce(
    (own, { neighbour = own, isLeft }) => (isLeft ? computePairSha3(neighbour, own) : computePairSha3(own, neighbour)),
    leaf,
  )
