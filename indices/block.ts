import { type DocOf, defineIndex } from './define.ts'
import { int, long, optional, searchedLong, text } from './fields.ts'

/** Headers, and the base transaction of each block as its difference from the template. Id: `blockId`. */
export const blocks = defineIndex({
  name: 'blocks',
  kind: 'history',
  finds: ['hash8', 'base_hash8'],
  fields: {
    height: int(),
    hash: text(),
    /** First 8 bytes of the hash as a signed integer: finds the block, the stored hash confirms it. */
    hash8: searchedLong(),
    version: text(),
    parent_hash: text(),
    tx_merkle_hash: text(),
    tx_receipt_merkle_hash: text(),
    witness: text(),
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
    tx_hashes: text(),
    /** The base transaction: JSON text of what differs from the template (`chain/base-transaction.ts`). */
    base: optional(text()),
    base_hash8: optional(searchedLong()),
  },
})
export type BlockDoc = DocOf<typeof blocks>
