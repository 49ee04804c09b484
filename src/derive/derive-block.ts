import type { LoadedBlock } from '#chain/block.ts'
import { hash8 } from '#chain/hash.ts'
import type { BlockDoc } from '#indices/block.ts'
import { transactionId } from '#indices/position.ts'
import type { RecordDoc } from '#indices/record.ts'
import type { TransactionDoc } from '#indices/transaction.ts'
import { blockDocument, countBlock, isBase } from './block-document.ts'
import { beginBlock, settle } from './block-scope.ts'
import { foundSystem } from './contract.ts'
import { rankedState } from './rankings.ts'
import { addRecords } from './record.ts'
import type { Scope, TxScope } from './scope.ts'
import type { State } from './state.ts'
import { applyTransaction } from './transaction.ts'
import { addToRuns } from './transaction-runs.ts'

/** Documents of one block; state changes are in the state. */
export type BlockDocuments = {
  readonly block: BlockDoc
  readonly transactions: readonly TransactionDoc[]
  readonly records: readonly RecordDoc[]
}

/** Facts about a block that the loader knows and the block does not contain. */
export type BlockPlan = {
  /**
   * Ids of balances with `next_due` up to the block's time: frozen amounts become available before the block's own
   * transactions.
   */
  readonly due: readonly string[]
  /** The partition that its history belongs to. */
  readonly partition: number
}

/**
 * Documents of a block and its changes to the state. Blocks come in order from genesis. Throws `Missing` when it needs
 * state that was not fetched: fetch it, roll the state back and derive the block again. Throws Failure 'defect' or
 * 'bad_block' when the block cannot follow from the state.
 */
export const deriveBlock = (
  loaded: LoadedBlock,
  state: State,
  { due, partition }: BlockPlan,
): BlockDocuments => {
  const { block } = loaded
  const ranked = rankedState(state)
  const scope = beginBlock(ranked.state, loaded, partition)
  addToRuns(scope.state, block, scope.statistics.transaction_count)
  for (const id of due) scope.ledger.release(id)
  const transactions: TransactionDoc[] = []
  block.transactions.forEach((tx, position) => {
    const at: TxScope = { scope, tx, position }
    const base = isBase(block, position)
    if (block.height === 0 && position === 0) found(at)
    addRecords(at, applyTransaction(at), base)
    if (!base)
      transactions.push({
        id: transactionId(block.height, position),
        height: block.height,
        tx: position,
        hash: tx.hash,
        hash8: hash8(tx.hash),
        body: tx.body,
      })
  })
  const document = blockDocument(scope)
  countBlock(scope, document)
  count(scope, transactions.length)
  settle(scope)
  ranked.settle()
  return { block: document, transactions, records: scope.records }
}

/** Genesis: what is there without being made by an action. */
const found = (at: TxScope): void => {
  const { scope, tx } = at
  scope.statistics.genesis_publisher = tx.publisher
  scope.statistics.genesis_tx = tx.hash
  scope.statistics.genesis_time = String(scope.block.time)
  foundSystem(at)
}

const NS_PER_SECOND = 1_000_000_000n

const count = ({ block, statistics }: Scope, transactions: number): void => {
  const second = Number(block.time / NS_PER_SECOND)
  statistics.transaction_count += transactions
  statistics.tps_count = second === statistics.tps_second ? statistics.tps_count + transactions : transactions
  statistics.tps_second = second
  if (statistics.tps_count > statistics.highest_tps) statistics.highest_tps = statistics.tps_count
}
