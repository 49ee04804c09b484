import { accounts } from './account.ts'
import { balances } from './balance.ts'
import { blocks } from './block.ts'
import { contracts } from './contract.ts'
import { days } from './day.ts'
import type { DocOf } from './define.ts'
import { lists } from './list.ts'
import { pledges } from './pledge.ts'
import { producerKeys, producers } from './producer.ts'
import { records } from './record.ts'
import { resources } from './resource.ts'
import { segments } from './segment.ts'
import { series } from './series.ts'
import { statistics } from './statistics.ts'
import { tokens } from './token.ts'
import { tokenDays } from './token-day.ts'
import { collectionOwners, collections, holdings, items } from './token721.ts'
import { transactionRuns, transactions } from './transaction.ts'
import { votes } from './vote.ts'
import { wealth } from './wealth.ts'

/** Indices with history, in the order in which they are written. */
export const historyIndices = [blocks, transactions, records] as const
/** Indices with state. */
export const stateIndices = [
  accounts,
  balances,
  collectionOwners,
  collections,
  contracts,
  days,
  holdings,
  items,
  lists,
  pledges,
  producers,
  producerKeys,
  resources,
  segments,
  series,
  statistics,
  tokens,
  tokenDays,
  transactionRuns,
  votes,
  wealth,
] as const

export type HistoryIndex = (typeof historyIndices)[number]
export type StateIndex = (typeof stateIndices)[number]
export type AnyIndex = HistoryIndex | StateIndex

/** Indices whose documents are found by a prefix of their names. */
export type NamedIndex = typeof accounts | typeof contracts | typeof producers | typeof tokens

/** A state document after a batch, with its index. */
export type StateChange = {
  [I in StateIndex as I['name']]: {
    readonly index: I
    readonly doc: DocOf<I>
    /** The document as of the batch before; absent: it did not exist. */
    readonly before?: DocOf<I>
  }
}[StateIndex['name']]
/** Identifies one state document. */
export type Key = { readonly index: StateIndex; readonly id: string }

/**
 * Version of the derived documents. Raise it when stored documents of an earlier version differ from those
 * this code would write: a loader refuses to continue on documents of another version.
 */
export const DERIVATION = 14
