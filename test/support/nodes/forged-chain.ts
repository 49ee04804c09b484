import { encodeBase58 } from '#chain/base58.ts'
import type { Block } from '#chain/block.ts'
import { decodeBlock } from '#chain/decode.ts'
import { hashBytes, merkleRoot } from '#chain/hash.ts'
import { headHash } from '#chain/head.ts'
import { receiptHash } from '#chain/receipt-hash.ts'
import { toHashedTransaction, transactionHash } from '#chain/transaction-hash.ts'
import type { Recording } from '#test/replay/recording.ts'

/** A block from JSON.parse, to be altered. */
export type Written = {
  hash: string
  parent_hash: string
  tx_merkle_hash: string
  tx_receipt_merkle_hash: string
  transactions: WrittenTransaction[]
  [field: string]: unknown
}
export type WrittenTransaction = {
  hash: string
  actions: { contract: string; action_name: string; data: string }[]
  tx_receipt: {
    tx_hash: string
    receipts: { func_name: string; content: string }[]
    [field: string]: unknown
  }
  [field: string]: unknown
}

const NOTHING = new Uint8Array()
const bytes = (hash: string): Uint8Array => hashBytes(hash) ?? NOTHING

/** Bytes that are not valid UTF-8 are kept in the text (`bytesOfText`), because JSON has no escape for them. */
const decoded = (block: Written): Block =>
  decodeBlock(
    JSON.stringify({ status: 'IRREVERSIBLE', block }).replaceAll(/\\u(dc[89a-f][0-9a-f])/g, (_, code) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    ),
  )

/** Sets the parent hash, and the parent's witness and gas, in a block, as a forger of a chain has to. */
function setParent(written: Written, parent: Block): void {
  written.parent_hash = parent.hash
  const action = written.transactions[0]?.actions[0]
  const gas = parent.transactions.reduce((sum, { receipt }) => sum + receipt.gasUsage, 0n)
  if (action !== undefined) action.data = `[{"parent":["${parent.witness}", "${gas}", false]}]`
}

/** Recomputes every hash that can be computed without a key: of the base transaction, of the roots and of the block. */
function rehash(written: Written): void {
  const [base] = written.transactions
  for (const tx of written.transactions) tx.tx_receipt.tx_hash = tx.hash
  const text = decoded(written).transactions[0]
  if (base !== undefined && text !== undefined) {
    base.hash = encodeBase58(transactionHash(toHashedTransaction(text)))
    base.tx_receipt.tx_hash = base.hash
  }
  const block = decoded(written)
  const leaf = ({ hash, receipt }: Block['transactions'][number]): Uint8Array =>
    receiptHash(bytes(hash), receipt) ?? NOTHING
  const roots = {
    txMerkleHash: merkleRoot(block.transactions.map(({ hash }) => bytes(hash))),
    txReceiptMerkleHash: merkleRoot(block.transactions.map(leaf)),
  }
  written.tx_merkle_hash = encodeBase58(roots.txMerkleHash)
  written.tx_receipt_merkle_hash = encodeBase58(roots.txReceiptMerkleHash)
  written.hash = headHash({
    ...roots,
    version: BigInt(block.version),
    parentHash: bytes(block.parentHash),
    info: Buffer.from('{}'),
    height: block.height,
    witness: block.witness,
    time: block.time,
  })
}

export type Forgery = {
  /** Height of the altered block. */
  readonly height: number
  readonly alter: (block: Written) => void
  /** Whether all hashes are recomputed, from this block to the end of the chain. */
  readonly rehashed: boolean
}

const readBlock = (recording: Recording, height: number): Written =>
  (JSON.parse(recording.blockText(height) ?? '') as { block: Written }).block

/**
 * A recorded chain up to `end` in which one block is altered. Signatures and raw blocks stay as recorded,
 * because a forger can make neither.
 */
export function forgedChain(recording: Recording, forgery: Forgery, end: number): Recording {
  const texts = new Map<number, string>()
  let parent: Block | undefined
  for (let height = forgery.height; height <= (forgery.rehashed ? end : forgery.height); height += 1) {
    const written = readBlock(recording, height)
    if (parent !== undefined) setParent(written, parent)
    if (height === forgery.height) forgery.alter(written)
    if (forgery.rehashed) {
      rehash(written)
      parent = decoded(written)
    }
    texts.set(height, JSON.stringify({ status: 'IRREVERSIBLE', block: written }))
  }
  return { ...recording, height: end, blockText: height => texts.get(height) ?? recording.blockText(height) }
}
