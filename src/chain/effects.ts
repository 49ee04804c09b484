/** Whether a transaction failed. One that is delayed did not, though nothing of it is carried out yet. */
export const hasFailed = (tx: { readonly receipt: { readonly statusCode: string } }): boolean =>
  tx.receipt.statusCode !== 'SUCCESS'

/** Whether a transaction's actions and receipts took effect. */
export const applies = (tx: {
  readonly delay: bigint
  readonly receipt: { readonly statusCode: string }
}): boolean => !hasFailed(tx) && tx.delay <= 0n

/** Movements of token.iost, and which argument of the receipt or action is the amount. */
export const AMOUNT_AT: ReadonlyMap<string, number> = new Map([
  ['transfer', 3],
  ['transferFreeze', 3],
  ['issue', 2],
  ['destroy', 2],
])

/** Receipts that are records of their own unless an action owns them: movements of tokens, and accounts that sign up. */
export const isMovement = (contract: string, name: string): boolean =>
  contract === 'token.iost' ? AMOUNT_AT.has(name) : contract === 'auth.iost' && name === 'signUp'
