import { type DocOf, defineIndex, hash, hashes, hashStart, int, long, optional, packed, text } from './define.ts'
import { transactionId } from './list.ts'

/** Block headers. The base transaction of each block is stored as its difference from the template. Id: `blockId`. */
export const blocks = defineIndex({
  name: 'blocks',
  kind: 'history',
  finds: ['hash8', 'base_hash8'],
  position: ['height'],
  fields: {
    height: int(),
    hash: hash(),
    /** First 8 bytes of the hash as a signed integer: used to find the block; the stored hash confirms the match. */
    hash8: hashStart(),
    version: text(),
    parent_hash: hash(),
    tx_merkle_hash: hash(),
    tx_receipt_merkle_hash: hash(),
    witness: hash(),
    /**
     * Account whose producer key signed the block, by the mapping after its own transactions. Otherwise the key itself.
     */
    witness_account: text(),
    /** Nanoseconds since 1970. */
    time: long(),
    /** Sum of the gas used by its transactions, × 100. */
    gas_usage: long(),
    tx_count: int(),
    /** The node's `info` as JSON text, `{}` for null. */
    info: text(),
    orig_info: text(),
    /** Hashes of all transactions in order, base first, joined by one space. */
    tx_hashes: hashes(),
    /** The base transaction: JSON text of its differences from the template (`chain/base-transaction.ts`). */
    base: optional(packed()),
    base_hash8: optional(hashStart()),
  },
})
export type BlockDoc = DocOf<typeof blocks>

/** Hashes of a block's transactions, in order. */
export const listBlockHashes = ({ tx_hashes }: Pick<BlockDoc, 'tx_hashes'>): readonly string[] =>
  tx_hashes === '' ? [] : tx_hashes.split(' ')

/**
 * Ids of the documents that hold a block's transactions. The block's own document holds the base transaction,
 * which genesis does not have.
 */
export const listTransactionIds = (doc: Pick<BlockDoc, 'height' | 'tx_hashes' | 'base'>): readonly string[] =>
  listBlockHashes(doc)
    .map((_, tx) => transactionId(doc.height, tx))
    .slice(doc.base === undefined ? 0 : 1)
