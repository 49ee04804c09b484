import { type DocOf, defineIndex } from './define.ts'
import { int, searchedLong, text } from './fields.ts'

/** All transactions but base ones, as the node gives them. Id: `transactionId`. */
export const transactions = defineIndex({
  name: 'transactions',
  kind: 'history',
  finds: ['hash8'],
  fields: {
    height: int(),
    /** Position in the block. */
    tx: int(),
    hash: text(),
    hash8: searchedLong(),
    /** The node's transaction object with its receipt, compact JSON text. */
    body: text(),
  },
})
export type TransactionDoc = DocOf<typeof transactions>
