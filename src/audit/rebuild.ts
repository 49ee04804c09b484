import { toBaseTransaction } from '#chain/base-transaction.ts'
import type { Block, Transaction } from '#chain/block.ts'
import { checkBlock, lossyReceipts, restoredReceipt } from '#chain/check.ts'
import { decodeTransaction } from '#chain/decode-transaction.ts'
import { Failure } from '#failure/failure.ts'
import { type BlockDoc, listBlockHashes } from '#indices/block.ts'
import type { TransactionDoc } from '#indices/transaction.ts'

export type RebuiltBlock = {
  readonly block: Block
  /** False: all is proved except the receipts, some of which lost bytes that cannot be recovered from stored data. */
  readonly proved: boolean
}

type Expected = { readonly height: number; readonly parentHash: string | undefined }

/**
 * Rebuilds a block from its stored documents and checks it like one from a node: its parent, its number of
 * transactions, the merkle roots of their hashes and receipts, its own hash. `docs` are in the order of
 * `listTransactionIds`. A receipt that is stored with lost bytes was proved by its raw form when it was loaded;
 * the raw form is not stored. When the root does not determine the lost bytes, the receipts of that block are
 * not proved again. Throws Failure 'bad_block' with the reason.
 */
export function rebuildBlock(
  doc: BlockDoc,
  docs: readonly (TransactionDoc | undefined)[],
  expected: Expected,
): RebuiltBlock {
  const bad = (reason: string): Failure => new Failure('bad_block', `Block ${expected.height}: ${reason}.`)
  try {
    const transactions = rebuildTransactions(doc, docs, bad)
    const block: Block = {
      height: doc.height,
      hash: doc.hash,
      parentHash: doc.parent_hash,
      version: doc.version,
      txMerkleHash: doc.tx_merkle_hash,
      txReceiptMerkleHash: doc.tx_receipt_merkle_hash,
      witness: doc.witness,
      time: doc.time,
      txCount: doc.tx_count,
      info: doc.info,
      origInfo: doc.orig_info,
      transactions,
    }
    return { block, proved: isProved(block, expected) }
  } catch (error) {
    if (error instanceof Failure && error.kind === 'bad_block') throw error
    throw bad(`its stored document cannot be read: ${String(error)}`)
  }
}

/** Whether the receipts are proved too. Throws Failure 'bad_block' for faults that lost bytes do not explain. */
function isProved(block: Block, { height, parentHash }: Expected): boolean {
  const lossy = lossyReceipts(block)
  const restored = lossy.flatMap(index => {
    const receipt = lossy.length === 1 ? restoredReceipt(block, index) : undefined
    return receipt === undefined ? [] : [[index, receipt] as const]
  })
  try {
    checkBlock(block, { parentHash, height }, { receipts: new Map(restored) })
    return true
  } catch (error) {
    if (lossy.length === 0) throw error
    checkBlock(block, { parentHash, height }, { receipts: 'later' })
    return false
  }
}

function rebuildTransactions(
  doc: BlockDoc,
  docs: readonly (TransactionDoc | undefined)[],
  bad: (reason: string) => Failure,
): readonly Transaction[] {
  const hashes = listBlockHashes(doc)
  const base = toBaseTransaction(doc)
  const own = base === undefined ? [] : [decodeTransaction(base)]
  const others = docs.map((each, at) => {
    if (each === undefined) throw bad(`transaction ${at + own.length} is missing`)
    return decodeTransaction(each.body)
  })
  const transactions = [...own, ...others]
  for (const [at, { hash }] of transactions.entries())
    if (hash !== hashes[at]) throw bad(`transaction ${at} has the hash ${hash}, expected ${hashes[at]}`)
  return transactions
}
