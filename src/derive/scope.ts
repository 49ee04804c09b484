import type { Block, ContractCode, Transaction } from '#chain/block.ts'
import type { ListKind } from '#indices/list.ts'
import type { RecordDoc } from '#indices/record.ts'
import type { StatisticsDoc } from '#indices/statistics.ts'
import type { Ledger } from './ledger.ts'
import type { SeriesDrafts } from './series.ts'
import type { State, Writable } from './state.ts'
import type { VoteBonuses } from './vote-bonuses.ts'

/**
 * The differences of the chain's earlier years, in one table (source: the history of the node's
 * `config/genesis/contract/vote_producer.js` and `vm/native/token_v*.go`). All other code in this folder is
 * written for today's chain and uses this file for the exceptions.
 *
 * | When | Difference | Handling |
 * |---|---|---|
 * | before block 38,500,000 (3.3.0) | failed transactions may keep receipts and returns | the receipts of a failed transaction are never applied (`applies` in `chain/effects.ts`) |
 * | node until 3.9.2 | delayed transactions: SUCCESS, a delay above 0, not executed yet | actions and receipts of a transaction with a delay are not applied; those of the later one with `referred_tx` are; the RAM of both is paid, whatever their status |
 * | same | `system.iost/cancelDelaytx` | changes no document but that of the RAM that it returns |
 * | vote_producer.iost 1.0.0 … 1.0.5 | registrations and votes emit no receipt | an action without its own receipt is applied from its arguments (`applySilentActions`) |
 * | vote.iost 1.0.0, and 1.0.1 until setCanVote | votes for producers may be given to vote.iost itself, without receipts | the action counts like that of vote_producer.iost (`chain/stake.ts`) |
 * | vote_producer.iost 1.0.0 | applyUnregister of a producer that was never approved removes it at once | detected by the version in the deployed code (`applyProducer`) |
 * | vote_producer.iost 1.0.0 … 1.0.6 | `voteFor [payer, voter, producer, amount]` | counts as the voter's vote |
 * | vote_producer.iost 1.0.0 … 1.0.5 | candidateWithdraw without receipt | the amounts are taken from its transfers |
 * | vote_producer.iost, March 2019 | `rebuild` by the admin sets all bonuses to zero | changes no document: bonuses of votes without receipts are unknown until they are withdrawn |
 * | vote_producer.iost 1.0.4 and 1.0.5 | voterWithdraw writes all decimals | rounded half up, as later versions write them |
 * | token.iost 1.0.0 | the signer's own amount text in receipts (`1.20294517598E7`) | parsed as by that contract |
 * | token.iost 1.0.0 … 1.0.2 | transfers from an account to itself emit no receipt | they change nothing |
 * | token.iost 1.0.4 | updateTotalSupply emits no receipt | applied from the action |
 * | token.iost 1.0.5 | symbols with a namespace, transferNamespace; recycle clears the issuer, and the symbol may be created again | symbols may contain a point; namespaces are not stored; the next token of a symbol takes the place of the former one, with its holders |
 * | genesis | no receipts of initSetCode, initProducer, ram.iost/issue | applied from the actions |
 * | early system contracts | code as base64 of protobuf instead of JSON | `chain/contract-code.ts` reads both |
 *
 * The handling of votes does not depend on a version, because a loader that starts today gets only today's
 * version of vote_producer.iost from the node. Since 1.0.6 each of these actions emits a receipt with its
 * account (and voter) whenever it changes anything, with two exceptions. So a successful action without its
 * receipt is itself the sign of the older contract. Votes that contracts cast from inside before 1.0.6 left
 * no trace except token movements and cannot be detected.
 *
 * The exceptions are applyUnregister in status APPLY (no change since 1.0.1), and topupVoterBonus of a
 * producer without votes (returns false). Each follows the rules in its own file.
 */

/** A block's contribution to its day that neither the block nor the statistics of the chain show. */
export type DayDraft = {
  movements: number
  moved: bigint
  ramFees: bigint
  readonly transfers: Map<string, { count: number; volume: bigint }>
}

/** Lists of records while a block is derived. */
export type ListCounts = {
  /** Place of the next row of a list, named as in `listKey`. A list gets its number with its first row. */
  next(kind: ListKind, name: string, within?: string): bigint
  settle(): void
}

/** All data of a block's derivation. Drafts are written to `state` once, at the end of the block (`deriveAnyBlock`). */
export type Scope = {
  readonly state: State
  readonly block: Block
  readonly systemCode: ReadonlyMap<string, ContractCode>
  readonly statistics: Writable<StatisticsDoc>
  readonly day: DayDraft
  readonly ledger: Ledger
  readonly lists: ListCounts
  readonly series: SeriesDrafts
  readonly bonuses: VoteBonuses
  readonly records: RecordDoc[]
}

export type TxScope = { readonly scope: Scope; readonly tx: Transaction; readonly position: number }
