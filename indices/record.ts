import { bool, type DocOf, defineIndex, int, long, optional, places, text, word } from './define.ts'

/** Fields of a record that a page of a list shows: all but its places. */
const listed = {
  height: int(),
  /** Position of the transaction in the block. */
  tx: int(),
  /** Number of the row in the transaction. */
  index: int(),
  tx_hash: text(),
  /** Time of the block, nanoseconds since 1970. */
  time: long(),
  contract: word(),
  action_name: word(),
  /** The action's arguments or the receipt's content: the chain's own text. */
  data: text(),
  return: word(),
  status_code: word(),
  from: text(),
  to: text(),
  /** The amount actually moved, in token units. Only on rows of token.iost movements. */
  amount: optional(text()),
  /** On signUp rows: the account that paid and counts as creator. */
  creator: optional(text()),
  /** On rows that deployed a contract: its id. */
  deployed: optional(text()),
  /** Position of the receipt in the transaction, on rows that are not an action's own. */
  receipt: optional(int()),
  overflow: bool(),
}

/**
 * Rows of the lists of records, sub-accounts and contracts. Id: `recordId`.
 *
 * When `overflow` is true, the texts of the row together exceed `OVERFLOW_BYTES`. `contract`, `action_name`, `data` and
 * `return` are then empty here and are read from the transaction: from receipt `receipt` if there is one, otherwise
 * from action `index`.
 */
export const records = defineIndex({
  name: 'records',
  kind: 'history',
  position: ['height', 'tx', 'index'],
  fields: { ...listed, places: places() },
})
export type RecordDoc = DocOf<typeof records>

/** The same documents as pages of lists read them. A page does not need places, which are a tenth of the bytes. */
export const listedRecords = { ...records, fields: listed }
export type ListedRecord = DocOf<typeof listedRecords>

/** The texts of a row that exceed this size are kept in the transaction only (a failed action may carry 64 KB). */
export const OVERFLOW_BYTES = 4096
