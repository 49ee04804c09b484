import { isBase } from '#chain/base-transaction.ts'
import type { Block } from '#chain/block.ts'
import { applies } from '#chain/effects.ts'
import { isContractId } from '#chain/names.ts'
import { Failure } from '#failure/failure.ts'
import type { BlockDoc } from '#indices/block.ts'
import { contracts } from '#indices/contract.ts'
import { listKey } from '#indices/list.ts'
import { producerKeys, producers } from '#indices/producer.ts'
import type { ListedRecord } from '#indices/record.ts'
import type { Key, StateIndex } from '#indices/registry.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { type TokenDoc, tokens } from '#indices/token.ts'
import { dayDraft } from './day.ts'
import { blockDocument } from './derive-block.ts'
import type { Ledger } from './ledger.ts'
import { applyProducer } from './producer.ts'
import { findText, parseReceipt } from './receipt.ts'
import { addRecords } from './record.ts'
import type { Scope, TxScope } from './scope.ts'
import type { SeriesDrafts } from './series.ts'
import type { State } from './state.ts'
import { applyToken, type Movement } from './token.ts'
import { applyActions, type Effects } from './transaction.ts'
import { voteBonuses } from './vote-bonuses.ts'

/** A row of the lists of records, and the keys of the lists that contain it (`listOf`). */
export type HeadRow = { readonly doc: ListedRecord; readonly lists: readonly string[] }

/**
 * Keys of state that `headRows` will need, as far as the block shows; `MissingState` requests the others. The loader needs
 * no such list, since its state is at hand.
 */
export function listNeededKeys(block: Block): readonly Key[] {
  const keys = new Map<string, Key>()
  const need = (index: StateIndex, id: string | undefined): void => {
    if (id !== undefined) keys.set(`${index.name} ${id}`, { index, id })
  }
  need(statistics, STATISTICS)
  need(producerKeys, block.witness)
  for (const { contract } of block.transactions.flatMap(({ actions }) => actions)) need(contracts, contract)
  for (const { contract, args } of block.transactions.flatMap(({ receipt }) => receipt.receipts.map(parseReceipt))) {
    if (isContractId(contract)) need(contracts, contract)
    if (contract === 'token.iost') need(tokens, findText(args, 0))
    if (contract === 'vote_producer.iost') for (const at of [0, 1]) need(producers, findText(args, at))
  }
  return [...keys.values()]
}

/**
 * The document and the rows of a block that is not irreversible yet: those that `deriveBlock` will make of
 * it, except their places in lists. Only state that rows depend on is read and written: decimals of tokens,
 * existing contracts, and owners of signing keys. Balances, votes and rankings are neither read nor changed.
 * (Producers that a contract of before 2019 changed without a receipt are not noticed: `scope.ts`.) Throws
 * `MissingState` like derivation, and Failure 'bad_block' or 'defect' when the block cannot follow from the state.
 */
export function headRows(block: Block, state: State): { readonly doc: BlockDoc; readonly rows: readonly HeadRow[] } {
  const figures = state.get(statistics, STATISTICS)
  if (figures === undefined) throw new Failure('defect', 'There is state without figures of the chain.')
  const keys: string[] = []
  const drafted = { ...figures }
  const scope: Scope = {
    state,
    block,
    systemCode: new Map(),
    statistics: drafted,
    day: dayDraft(),
    ledger: tokensOnly(state, block),
    series: NO_SERIES,
    bonuses: voteBonuses({ state, statistics: drafted, series: NO_SERIES }),
    // Rows have no places yet, so the index of the key stands for one.
    lists: { next: (...names) => BigInt(keys.push(listKey(...names)) - 1), settle: () => undefined },
    records: [],
  }
  block.transactions.forEach((tx, position) => {
    const at: TxScope = { scope, tx, position }
    addRecords(at, deriveEffects(at), isBase(block, position))
  })
  const rows = scope.records.map(({ places, ...doc }) => ({ doc, lists: places.map(at => keys[Number(at)] ?? '') }))
  return { doc: blockDocument(scope), rows }
}

/** The part of `applyTransaction` that rows depend on. */
function deriveEffects(at: TxScope): Effects {
  const movements = new Map<number, Movement>()
  const deployed = applyActions(at)
  if (!applies(at.tx)) return { movements, deployed }
  at.tx.receipt.receipts.forEach((receipt, position) => {
    const parsed = parseReceipt(receipt)
    if (parsed.contract === 'vote_producer.iost') applyProducer(at, parsed.name, parsed.args)
    const movement = parsed.contract === 'token.iost' ? applyToken(at, parsed) : undefined
    if (movement !== undefined) movements.set(position, movement)
  })
  return { movements, deployed }
}

const NO_SERIES: SeriesDrafts = {
  open: key => ({ key, isNew: false, newest: undefined }),
  note: () => undefined,
  row: () => undefined,
  end: () => undefined,
  settle: () => undefined,
}

/** A ledger with tokens and without balances. */
function tokensOnly(state: State, block: Block): Ledger {
  const drafts = new Map<string, TokenDoc>()
  return {
    add: () => undefined,
    freeze: () => undefined,
    release: () => undefined,
    token: symbol => {
      const known = drafts.get(symbol) ?? state.get(tokens, symbol)
      if (known === undefined)
        throw new Failure('bad_block', `Block ${block.height} moves token "${symbol}", which was never created.`)
      const draft = { ...known }
      drafts.set(symbol, draft)
      return draft
    },
    createToken: doc => {
      drafts.set(doc.symbol, doc)
      state.put(tokens, doc)
      return undefined
    },
    open: () => undefined,
    addVotes: () => undefined,
    settle: () => undefined,
  }
}
