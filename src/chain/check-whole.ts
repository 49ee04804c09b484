import { Failure } from '#failure/failure.ts'
import { encodeBase58 } from './base58.ts'
import type { Block } from './block.ts'
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
  const bad = (reason: string): Failure =>
    new Failure('bad_block', `Block ${block.height}: ${reason}.`, { details: { height: block.height } })
  if (raw.transactions.length !== block.transactions.length)
    throw bad(`${raw.transactions.length} of ${block.transactions.length} transactions in the raw block`)
  for (const [index, tx] of block.transactions.entries()) {
    const hashed = raw.transactions[index]
    if (hashed === undefined || encodeBase58(transactionHash(hashed)) !== tx.hash)
      throw bad(`transaction ${index} of the raw block does not have the hash ${tx.hash}`)
    const field = differingField(tx, hashed)
    if (field !== undefined) throw bad(`${field} of transaction ${tx.hash} differs in the raw block`)
  }
}
