import { parseUnitsLeniently } from '#chain/amount.ts'
import { findContribution, isBase, packBaseTransaction } from '#chain/base-transaction.ts'
import { type Block, type LoadedBlock, toBlockFields } from '#chain/block.ts'
import { hash8 } from '#chain/hash.ts'
import { balanceId, balances } from '#indices/balance.ts'
import type { BlockDoc } from '#indices/block.ts'
import { blockId, transactionId } from '#indices/list.ts'
import { producerKeys, producers } from '#indices/producer.ts'
import type { RecordDoc } from '#indices/record.ts'
import { SEGMENT_SIZES } from '#indices/segment.ts'
import { series, seriesOf } from '#indices/series.ts'
import { STATISTICS, type StatisticsDoc, statistics } from '#indices/statistics.ts'
import { tokens } from '#indices/token.ts'
import { RUN_LENGTH, runId, type TransactionDoc, transactionRuns, withStretch } from '#indices/transaction.ts'
import { deploySystemContract } from './contract.ts'
import { dayDraft, settleDay, settleTokenDays } from './day.ts'
import { createLedger } from './ledger.ts'
import { getProducer } from './producer.ts'
import { createRankedState } from './rankings.ts'
import { addRecords, createListCounts } from './record.ts'
import type { Scope, TxScope } from './scope.ts'
import { seriesDrafts, withContribute } from './series.ts'
import type { State } from './state.ts'
import { applyTransaction } from './transaction.ts'
import { voteBonuses } from './vote-bonuses.ts'

/** The document is made after the block's transactions, which may change the owner of the signing key. */
export function blockDocument({ state, block }: Pick<Scope, 'state' | 'block'>): BlockDoc {
  const [first] = block.transactions
  const base = first !== undefined && isBase(block, 0) ? first : undefined
  return {
    id: blockId(block.height),
    ...toBlockFields(block, state.get(producerKeys, block.witness)?.account),
    hash8: hash8(block.hash),
    ...(base === undefined ? {} : { base: packBaseTransaction(base, block.time), base_hash8: hash8(base.hash) }),
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
function countBlock({ state }: Pick<Scope, 'state'>, { witness, witness_account }: BlockDoc): void {
  if (witness_account === witness) return
  const producer = getProducer(state, witness_account)
  // The counters of the producer table do not depend on it (`changeProducer`).
  state.put(producers, { ...producer, block_count: producer.block_count + 1 })
}

/** Counts the transactions of a block, except the base one, in the statistics of the chain. */
function countTransactions({ block, statistics }: Pick<Scope, 'block' | 'statistics'>, transactions: number): void {
  const second = Number(block.time / 1_000_000_000n)
  statistics.transaction_count += transactions
  statistics.tps_count = second === statistics.tps_second ? statistics.tps_count + transactions : transactions
  statistics.tps_second = second
  if (statistics.tps_count > statistics.highest_tps) statistics.highest_tps = statistics.tps_count
}

const CONTRIBUTE = 'contribute'
const SUPPLY = seriesOf.supply(CONTRIBUTE)

/**
 * Derives a quiet block, in which only the witness of its parent is paid: most blocks of the chain. Returns its
 * document and writes its changes to the state. The result is that of `deriveAnyBlock`, at a quarter of the cost.
 * undefined: the block is not quiet, or its payment changes more than amounts; nothing was written then.
 */
export function deriveQuietBlock(block: Block, state: State): BlockDoc | undefined {
  const paid = findContribution(block)
  if (paid === undefined) return undefined
  const before = state.get(statistics, STATISTICS)
  if (before === undefined) return undefined
  const contribute = planContribute(state, block, paid)
  if (contribute === undefined) return undefined
  const document = blockDocument({ state, block })
  const figures = { ...before }
  state.put(tokens, contribute.token)
  state.put(balances, contribute.balance)
  for (const part of contribute.parts) state.put(series, part)
  countBlock({ state }, document)
  countTransactions({ block, statistics: figures }, 0)
  settleDay({ state, block, day: dayDraft(), statistics: figures }, before)
  state.put(statistics, figures)
  return document
}

/**
 * Documents of the token contribute after a payment. undefined: the receiver had none before, a part of a series is
 * full, or the payment affects the segments of a ranking.
 */
function planContribute(
  state: State,
  { height }: Block,
  { to, amount }: NonNullable<ReturnType<typeof findContribution>>,
) {
  const id = balanceId(CONTRIBUTE, to)
  const token = state.get(tokens, CONTRIBUTE)
  const balance = state.get(balances, id)
  if (token === undefined || balance === undefined || balance.amount <= 0n) return undefined
  const change = parseUnitsLeniently(amount, token.decimal) ?? 0n
  if (change === 0n || token.holder_count > SEGMENT_SIZES.group) return undefined
  const supply = withContribute(state.get(series, SUPPLY), height, change)
  const past = withContribute(state.get(series, seriesOf.balance(id)), height, change)
  if (supply === undefined || past === undefined) return undefined
  return {
    token: { ...token, current_supply: token.current_supply + change },
    balance: { ...balance, amount: balance.amount + change },
    parts: [supply, past],
  }
}

/** Documents of one block; changes of state are written to the state. */
export type BlockDocuments = {
  readonly block: BlockDoc
  readonly transactions: readonly TransactionDoc[]
  readonly records: readonly RecordDoc[]
}

/** Facts about a block that the loader knows and the block does not contain. */
export type BlockPlan = {
  /** Ids of balances with amounts due by the block's time, which are available before its own transactions. */
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
  const ranked = createRankedState(state)
  const scope = beginBlock(ranked.state, loaded, partition)
  addToRuns(scope.state, block, scope.statistics.transaction_count)
  for (const id of due) scope.ledger.release(id)
  scope.series.end(0)
  block.transactions.forEach((tx, position) => {
    const at: TxScope = { scope, tx, position }
    if (block.height === 0 && position === 0) addGenesisState(at)
    addRecords(at, applyTransaction(at), isBase(block, position))
    scope.series.end(position)
  })
  const transactions = transactionDocuments(block)
  const document = blockDocument(scope)
  countBlock(scope, document)
  countTransactions(scope, transactions.length)
  scope.ledger.settle(scope.statistics)
  scope.series.end(0)
  scope.series.settle()
  scope.lists.settle()
  settleDay(scope, scope.state.get(statistics, STATISTICS) ?? FIRST)
  settleTokenDays(scope)
  scope.state.put(statistics, scope.statistics)
  ranked.settle()
  return { block: document, transactions, records: scope.records }
}

/** Adds the state of genesis that no action creates. */
function addGenesisState(at: TxScope): void {
  const { statistics, block } = at.scope
  statistics.genesis_publisher = at.tx.publisher
  statistics.genesis_tx = at.tx.hash
  statistics.genesis_time = String(block.time)
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
    ledger: createLedger(state, block, series),
    series,
    bonuses: voteBonuses({ state, statistics: figures, series }),
    lists: createListCounts(state, figures, partition),
    records: [],
  }
}

/** Adds a block's transactions, except the base one, to the runs of all transactions, after the `before` earlier ones. */
function addToRuns(state: State, block: Block, before: number): void {
  const { height, transactions } = block
  const base = isBase(block, 0) ? 1 : 0
  for (let done = 0, of = transactions.length - base; done < of; ) {
    const number = before + done
    const id = runId(Math.floor(number / RUN_LENGTH))
    const count = Math.min(of - done, RUN_LENGTH - (number % RUN_LENGTH))
    const stretch = { height, first: base + done, count }
    // A run that begins here does not exist yet and need not be read.
    const isNew = number % RUN_LENGTH === 0
    const run = (isNew ? undefined : state.get(transactionRuns, id)) ?? { blocks: [] }
    const changed = { id, blocks: withStretch(run, stretch) }
    if (isNew) state.add(transactionRuns, changed)
    else state.put(transactionRuns, changed)
    done += count
  }
}
