import { type DocOf, defineIndex } from './define.ts'
import { hash, hashes, hashStart, int, long, optional, packed, text } from './fields.ts'
import { transactionId } from './position.ts'

/** Headers, and the base transaction of each block as its difference from the template. Id: `blockId`. */
export const blocks = defineIndex({
  name: 'blocks',
  kind: 'history',
  finds: ['hash8', 'base_hash8'],
  position: ['height'],
  fields: {
    height: int(),
    hash: hash(),
    /** First 8 bytes of the hash as a signed integer: finds the block, the stored hash confirms it. */
    hash8: hashStart(),
    version: text(),
    parent_hash: hash(),
    tx_merkle_hash: hash(),
    tx_receipt_merkle_hash: hash(),
    witness: hash(),
    /** Account whose producer key signed the block, by the mapping after its own transactions; else the key. */
    witness_account: text(),
    /** Nanoseconds since 1970. */
    time: long(),
    /** Σ gas usage of its transactions × 100. */
    gas_usage: long(),
    tx_count: int(),
    /** The node's `info` as JSON text, `{}` for null. */
    info: text(),
    orig_info: text(),
    /** Hashes of all transactions in order, base first, joined by one space. */
    tx_hashes: hashes(),
    /** The base transaction: JSON text of what differs from the template (`chain/base-transaction.ts`). */
    base: optional(packed()),
    base_hash8: optional(hashStart()),
  },
})
export type BlockDoc = DocOf<typeof blocks>

/** Hashes of a block's transactions, in order. */
export const hashesIn = ({ tx_hashes }: Pick<BlockDoc, 'tx_hashes'>): readonly string[] =>
  tx_hashes === '' ? [] : tx_hashes.split(' ')

/** Ids of the documents that a block's transactions are kept in; the base transaction, which genesis has none of, is in the block's own. */
export const transactionIdsOf = (doc: Pick<BlockDoc, 'height' | 'tx_hashes' | 'base'>): readonly string[] =>
  hashesIn(doc)
    .map((_, tx) => transactionId(doc.height, tx))
    .slice(doc.base === undefined ? 0 : 1)
