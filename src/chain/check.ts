import { Failure } from '#failure/failure.ts'
import { encodeBase58 } from './base58.ts'
import type { Block } from './block.ts'
import { hashBytes } from './hash.ts'
import { merkleRoot } from './merkle.ts'
import { receiptHash } from './receipt-hash.ts'

const bad = (block: Block, reason: string): Failure =>
  new Failure('bad_block', `Block ${block.height}: ${reason}.`, { details: { height: block.height } })

/** Whom the first transaction of every block but genesis belongs to. */
const BASE_PUBLISHER = 'base.iost'

/**
 * Whether a block is whole and follows its parent: height, parent hash, transaction count, the merkle roots of its
 * transactions and of their receipts, and its base transaction. `parentHash` undefined: not known, or genesis; `height` is
 * the one that was asked for.
 * Throws Failure 'bad_block' with height and reason.
 */
export const checkBlock = (block: Block, parentHash: string | undefined, height = block.height): void => {
  if (block.height !== height) throw bad(block, `block ${height} was asked`)
  if (hashBytes(block.hash) === undefined) throw bad(block, `hash "${block.hash.slice(0, 60)}" is none`)
  if (height === 0 ? block.parentHash !== '' : hashBytes(block.parentHash) === undefined)
    throw bad(block, `parent hash "${block.parentHash.slice(0, 60)}" is none`)
  if (parentHash !== undefined && block.parentHash !== parentHash)
    throw bad(block, `parent hash is ${block.parentHash}, block ${height - 1} has ${parentHash}`)
  if (block.txCount !== block.transactions.length)
    throw bad(block, `${block.transactions.length} transactions of ${block.txCount}`)
  checkRoots(block)
  const [base] = block.transactions
  if (height > 0 && base?.publisher !== BASE_PUBLISHER)
    throw bad(block, `first transaction is of "${base?.publisher ?? ''}", not of ${BASE_PUBLISHER}`)
}

const checkRoots = (block: Block): void => {
  const hashes = block.transactions.map(({ hash }) => {
    const bytes = hashBytes(hash)
    if (bytes === undefined) throw bad(block, `transaction hash "${hash.slice(0, 60)}" is none`)
    return bytes
  })
  const root = encodeBase58(merkleRoot(hashes))
  if (root !== block.txMerkleHash)
    throw bad(block, `merkle root of its transactions is ${root}, its head says ${block.txMerkleHash}`)
  const leaves = block.transactions.map(({ hash, receipt }, index) => {
    const leaf = receiptHash(hashes[index] ?? new Uint8Array(), receipt)
    if (leaf === undefined)
      throw bad(block, `transaction ${hash} has status "${receipt.statusCode.slice(0, 60)}", which is none`)
    return leaf
  })
  const receiptRoot = encodeBase58(merkleRoot(leaves))
  if (receiptRoot !== block.txReceiptMerkleHash && !hasLostBytes(block))
    throw bad(
      block,
      `merkle root of its receipts is ${receiptRoot}, its head says ${block.txReceiptMerkleHash}`,
    )
}

/** Bytes that are no UTF-8 (a message cut inside a letter) are U+FFFD in the node's JSON: their hash can not be told. */
const hasLostBytes = (block: Block): boolean =>
  block.transactions.some(({ body }) => body.includes('\ufffd') || body.includes('\\ufffd'))

/** What the base transaction says of the parent block: its witness and Σ gas usage × 100. */
const parentOf = (block: Block): readonly unknown[] | undefined => {
  try {
    const [first] = JSON.parse(block.transactions[0]?.actions[0]?.data ?? '') as readonly {
      parent?: unknown
    }[]
    return Array.isArray(first?.parent) ? first.parent : undefined
  } catch {
    return undefined
  }
}

/**
 * Checks a block's base transaction against its parent: it names the parent's witness and its gas × 100.
 * Throws Failure 'bad_block'.
 */
export const checkBaseTransaction = (block: Block, parent: Block): void => {
  const said = parentOf(block)
  const gas = parent.transactions.reduce((sum, { receipt }) => sum + receipt.gasUsage, 0n)
  if (said === undefined) throw bad(block, 'base transaction does not name the parent')
  if (said[0] !== parent.witness || said[1] !== String(gas))
    throw bad(
      block,
      `base transaction says witness ${said[0]} and gas ${said[1]} of its parent, block ${parent.height} has ${parent.witness} and ${gas}`,
    )
}
