import { fromBaseTransaction, isBase } from '#chain/base-transaction.ts'
import type { Block } from '#chain/block.ts'
import { hash8 } from '#chain/hash.ts'
import type { BlockDoc } from '#indices/block.ts'
import { blockId, transactionId } from '#indices/position.ts'
import { producerKeys, producers } from '#indices/producer.ts'
import type { TransactionDoc } from '#indices/transaction.ts'
import { getProducer } from './producer.ts'
import type { Scope } from './scope.ts'

/**
 * The block's own document. It is made after the block's transactions, which may change the owner of the signing key.
 */
export function blockDocument({ state, block }: Pick<Scope, 'state' | 'block'>): BlockDoc {
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
    ...(base === undefined ? {} : { base: fromBaseTransaction(base, block.time), base_hash8: hash8(base.hash) }),
  }
}

/** Documents of a block's transactions; the base transaction is part of the block's own document. */
export const transactionDocuments = (block: Block): readonly TransactionDoc[] =>
  block.transactions.flatMap(({ hash, body }, tx) =>
    isBase(block, tx)
      ? []
      : [{ id: transactionId(block.height, tx), height: block.height, tx, hash, hash8: hash8(hash), body }],
  )

/** Counts a block for the producer that signed it, by the mapping of keys valid at that block. */
export function countBlock({ state }: Pick<Scope, 'state'>, { witness, witness_account }: BlockDoc): void {
  if (witness_account === witness) return
  const producer = getProducer(state, witness_account)
  // The counters of the producer table do not depend on it (`changeProducer`).
  state.put(producers, { ...producer, block_count: producer.block_count + 1 })
}

const NS_PER_SECOND = 1_000_000_000n

/** Counts the transactions of a block, except the base one, in the statistics of the chain. */
export function countTransactions(
  { block, statistics }: Pick<Scope, 'block' | 'statistics'>,
  transactions: number,
): void {
  const second = Number(block.time / NS_PER_SECOND)
  statistics.transaction_count += transactions
  statistics.tps_count = second === statistics.tps_second ? statistics.tps_count + transactions : transactions
  statistics.tps_second = second
  if (statistics.tps_count > statistics.highest_tps) statistics.highest_tps = statistics.tps_count
}
