import { fromBaseTransaction } from '#chain/base-transaction.ts'
import type { Block } from '#chain/block.ts'
import { hash8 } from '#chain/hash.ts'
import type { BlockDoc } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import { producerKeys, producers } from '#indices/producer.ts'
import { producerOf } from './producer.ts'
import type { Scope } from './scope.ts'

/** Whether a transaction is the first one of a block, which the chain itself makes. */
export const isBase = (block: Block, position: number): boolean =>
  block.height > 0 && position === 0 && block.transactions[0]?.publisher === 'base.iost'

/** The block's own document. Comes after its transactions: they may change whose key signed it. */
export const blockDocument = ({ state, block }: Scope): BlockDoc => {
  const [first] = block.transactions
  const account = state.get(producerKeys, block.witness)?.account ?? ''
  const gas = block.transactions.reduce((sum, { receipt }) => sum + receipt.gasUsage, 0n)
  const base = first !== undefined && isBase(block, 0) ? first : undefined
  return {
    id: blockId(block.height),
    height: block.height,
    hash: block.hash,
    hash8: hash8(block.hash),
    version: block.version,
    parent_hash: block.parentHash,
    tx_merkle_hash: block.txMerkleHash,
    tx_receipt_merkle_hash: block.txReceiptMerkleHash,
    witness: block.witness,
    witness_account: account === '' ? block.witness : account,
    time: block.time,
    gas_usage: gas,
    tx_count: block.txCount,
    info: block.info,
    orig_info: block.origInfo,
    tx_hashes: block.transactions.map(({ hash }) => hash).join(' '),
    ...(base === undefined ? {} : { base: fromBaseTransaction(base), base_hash8: hash8(base.hash) }),
  }
}

/** A producer signed one more block, by the mapping of keys valid at it. */
export const countBlock = (scope: Scope, { witness, witness_account }: BlockDoc): void => {
  if (witness_account === witness) return
  const producer = producerOf(scope.state, witness_account)
  // Nothing that is counted in the table changes with it (`changeProducer`).
  scope.state.put(producers, { ...producer, block_count: producer.block_count + 1 })
}
