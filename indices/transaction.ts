import { type DocOf, defineIndex, hash, hashStart, int, packed } from './define.ts'

/** All transactions but base ones, as the node returns them. Id: `transactionId`. */
export const transactions = defineIndex({
  name: 'transactions',
  kind: 'history',
  finds: ['hash8'],
  position: ['height', 'tx'],
  fields: {
    height: int(),
    /** Position in the block. */
    tx: int(),
    hash: hash(),
    hash8: hashStart(),
    /** The node's transaction object with its receipt, compact JSON text. */
    body: packed(),
  },
})
export type TransactionDoc = DocOf<typeof transactions>
