/**
 * Positions in the chain as ids: fixed-width decimal, so text order is chain order and the id says where the document
 * stands. Identical twins get different ids, and writing a block twice writes the same documents.
 *
 * Widths: 12 digits of height outlast the chain by 15,000 years at two blocks a second; a block holds at most some
 * hundred transactions today (gas limit 8,000,000) and a transaction at most a few hundred rows.
 */
const HEIGHT_DIGITS = 12
const TX_DIGITS = 5
const ROW_DIGITS = 5

const fixed = (value: number, digits: number): string => {
  if (!Number.isInteger(value) || value < 0 || value >= 10 ** digits)
    throw new RangeError(`Position ${value} does not fit ${digits} digits.`)
  return String(value).padStart(digits, '0')
}

export const blockId = (height: number): string => fixed(height, HEIGHT_DIGITS)
/** `tx` is the position in the block, 0 is the base transaction. */
export const transactionId = (height: number, tx: number): string =>
  `${blockId(height)}-${fixed(tx, TX_DIGITS)}`
/** `index` is the row's number in the transaction. */
export const recordId = (height: number, tx: number, index: number): string =>
  `${transactionId(height, tx)}-${fixed(index, ROW_DIGITS)}`
