import { Failure } from '#failure/failure.ts'
import { encodeBase58 } from './base58.ts'
import type { Block, Transaction } from './block.ts'
import type { RawBlock } from './raw-block.ts'
import { differingField, transactionHash } from './transaction-hash.ts'

/** Whether every text of a block is proved by its hash already: the base transaction's is, it has no signatures. */
export const isWholeByItself = ({ height, transactions }: Block): boolean =>
  height > 0 && transactions.length === 1

/**
 * Whether the text of each transaction is the one its hash stands for, by the raw form, which has the signatures that the
 * hash covers. Throws Failure 'bad_block' with the transaction and its field.
 */
export const checkWhole = (block: Block, raw: RawBlock): void => {
  if (raw.transactions.length !== block.transactions.length)
    throw bad(
      block,
      `${raw.transactions.length} of ${block.transactions.length} transactions in the raw block`,
    )
  for (const transaction of block.transactions) requireWhole(block, raw, transaction)
}

/** `checkWhole` for one transaction of the block. Throws Failure 'bad_block'. */
export const requireWhole = (block: Block, raw: RawBlock, transaction: Transaction): void => {
  const index = block.transactions.indexOf(transaction)
  const hashed = raw.transactions[index]
  if (hashed === undefined || encodeBase58(transactionHash(hashed)) !== transaction.hash)
    throw bad(block, `transaction ${index} of the raw block does not have the hash ${transaction.hash}`)
  const field = differingField(transaction, hashed)
  if (field !== undefined)
    throw bad(block, `${field} of transaction ${transaction.hash} differs in the raw block`)
}

const bad = (block: Block, reason: string): Failure =>
  new Failure('bad_block', `Block ${block.height}: ${reason}.`, { details: { height: block.height } })
