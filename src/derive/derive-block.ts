import { isBase } from '#chain/base-transaction.ts'
import type { Block, LoadedBlock } from '#chain/block.ts'
import type { BlockDoc } from '#indices/block.ts'
import type { RecordDoc } from '#indices/record.ts'
import { STATISTICS, type StatisticsDoc, statistics } from '#indices/statistics.ts'
import type { TransactionDoc } from '#indices/transaction.ts'
import { RUN_LENGTH, runId, transactionRuns, withStretch } from '#indices/transaction-run.ts'
import { blockDocument, countBlock, countTransactions, transactionDocuments } from './block-document.ts'
import { deploySystemContract } from './contract.ts'
import { dayDraft, settleDay, settleTokenDays } from './day.ts'
import { ledger } from './ledger.ts'
import { deriveQuietBlock } from './quiet-block.ts'
import { rankedState } from './rankings.ts'
import { addRecords, listCounts } from './record.ts'
import type { Scope, TxScope } from './scope.ts'
import { seriesDrafts } from './series.ts'
import type { State } from './state.ts'
import { applyTransaction } from './transaction.ts'
import { voteBonuses } from './vote-bonuses.ts'

/** Documents of one block; changes of state are written to the state. */
export type BlockDocuments = {
  readonly block: BlockDoc
  readonly transactions: readonly TransactionDoc[]
  readonly records: readonly RecordDoc[]
}

/** Facts about a block that the loader knows and the block does not contain. */
export type BlockPlan = {
  /**
   * Ids of balances with `next_due` up to the block's time: frozen amounts become available before the
   * block's own transactions.
   */
  readonly due: readonly string[]
  /** The partition of its history. */
  readonly partition: number
}

/**
 * Derives the documents of a block and its changes to the state. Blocks come in order from genesis. Throws `MissingState`
 * when it needs the publisher of an earlier transaction that was not looked up yet: the caller looks it up, rolls the state
 * back and derives the block again. Throws Failure 'defect' or 'bad_block' when the block cannot follow from the state.
 */
export function deriveBlock(loaded: LoadedBlock, state: State, plan: BlockPlan): BlockDocuments {
  const quiet = plan.due.length === 0 ? deriveQuietBlock(loaded.block, state) : undefined
  return quiet === undefined ? deriveAnyBlock(loaded, state, plan) : { block: quiet, transactions: [], records: [] }
}

/** `deriveBlock` without the fast path for quiet blocks. */
export function deriveAnyBlock(loaded: LoadedBlock, state: State, { due, partition }: BlockPlan): BlockDocuments {
  const { block } = loaded
  const ranked = rankedState(state)
  const scope = beginBlock(ranked.state, loaded, partition)
  addToRuns(scope.state, block, scope.statistics.transaction_count)
  for (const id of due) scope.ledger.release(id)
  scope.series.end(0)
  block.transactions.forEach((tx, position) => {
    const at: TxScope = { scope, tx, position }
    if (block.height === 0 && position === 0) found(at)
    addRecords(at, applyTransaction(at), isBase(block, position))
    scope.series.end(position)
  })
  const transactions = transactionDocuments(block)
  const document = blockDocument(scope)
  countBlock(scope, document)
  countTransactions(scope, transactions.length)
  settle(scope)
  ranked.settle()
  return { block: document, transactions, records: scope.records }
}

/** Adds the state of genesis that no action creates. */
function found(at: TxScope): void {
  const { scope, tx } = at
  scope.statistics.genesis_publisher = tx.publisher
  scope.statistics.genesis_tx = tx.hash
  scope.statistics.genesis_time = String(scope.block.time)
  deploySystemContract(at)
}

const FIRST: StatisticsDoc = {
  id: STATISTICS,
  account_count: 0,
  contract_count: 0,
  token_count: 0,
  collection_count: 0,
  producer_count: 0,
  producer_votes: 0n,
  candidate_votes: 0n,
  votes_told: false,
  wealth_count: 0,
  list_count: 0,
  pledge_seq: 0,
  transaction_count: 0,
  record_count: 0,
  highest_tps: 0,
  tps_second: 0,
  tps_count: 0,
  ram: { left: '0', used: '0', balance: '0' },
  versions: [],
  genesis_publisher: '',
  genesis_tx: '',
  genesis_time: '0',
}

function beginBlock(state: State, { block, systemCode }: LoadedBlock, partition: number): Scope {
  const figures = { ...(state.get(statistics, STATISTICS) ?? FIRST) }
  const series = seriesDrafts(state, block)
  return {
    state,
    block,
    systemCode: new Map(systemCode.map(code => [code.id, code])),
    statistics: figures,
    day: dayDraft(),
    ledger: ledger(state, block, series),
    series,
    bonuses: voteBonuses({ state, statistics: figures, series }),
    lists: listCounts(state, figures, partition),
    records: [],
  }
}

/** Ends a block: drafts become documents. */
function settle(scope: Scope): void {
  scope.ledger.settle(scope.statistics)
  scope.series.end(0)
  scope.series.settle()
  scope.lists.settle()
  settleDay(scope, scope.state.get(statistics, STATISTICS) ?? FIRST)
  settleTokenDays(scope)
  scope.state.put(statistics, scope.statistics)
}

/** Adds a block's transactions, except the base one, to the runs of all transactions; `before`: the number of earlier ones. */
function addToRuns(state: State, block: Block, before: number): void {
  const { height, transactions } = block
  const base = isBase(block, 0) ? 1 : 0
  for (let done = 0, of = transactions.length - base; done < of; ) {
    const number = before + done
    const id = runId(Math.floor(number / RUN_LENGTH))
    const count = Math.min(of - done, RUN_LENGTH - (number % RUN_LENGTH))
    const stretch = { height, first: base + done, count }
    // A run that begins here does not exist yet and need not be read.
    if (number % RUN_LENGTH === 0) state.add(transactionRuns, { id, blocks: withStretch({ blocks: [] }, stretch) })
    else
      state.put(transactionRuns, { id, blocks: withStretch(state.get(transactionRuns, id) ?? { blocks: [] }, stretch) })
    done += count
  }
}
