import type { Block, ContractCode, Transaction } from '#chain/block.ts'
import type { ListKind } from '#indices/list.ts'
import type { RecordDoc } from '#indices/record.ts'
import type { StatisticsDoc } from '#indices/statistics.ts'
import type { Ledger } from './ledger.ts'
import type { SeriesDrafts } from './series.ts'
import type { State } from './state.ts'
import type { VoteBonuses } from './vote-bonuses.ts'

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** A block's contribution to its day that neither the block nor the statistics of the chain show. */
export type DayDraft = {
  movements: number
  moved: bigint
  ramFees: bigint
  /** Transfers by token. */
  readonly transfers: Map<string, { count: number; volume: bigint }>
}

/** Lists of records while a block is derived. */
export type ListCounts = {
  /** Place of the next row of a list, named as in `listKey`. A list gets its number with its first row. */
  next(kind: ListKind, name: string, within?: string): bigint
  settle(): void
}

/** All data of a block's derivation. Drafts are written to `state` once, at the end of the block (`settle`). */
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

/** One transaction at its position in the block. */
export type TxScope = { readonly scope: Scope; readonly tx: Transaction; readonly position: number }

/** Version of a system contract, by its deployed code; undefined if none was deployed yet. */
export const findSystemVersion = ({ statistics }: Scope, contract: string): string | undefined =>
  statistics.versions.find(([id]) => id === contract)?.[1]

/** Records the version of a system contract. */
export function noteVersion({ statistics }: Scope, contract: string, version: string): void {
  const others = statistics.versions.filter(([id]) => id !== contract)
  statistics.versions = [...others, [contract, version] as const].sort(([a], [b]) => (a < b ? -1 : 1))
}
