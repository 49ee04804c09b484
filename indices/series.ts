import { type DocOf, defineIndex } from './define.ts'
import { digits, int, json, text } from './fields.ts'

/**
 * What an amount was at any height: every change of it, in chain order, in parts of some 30 changes. The id of the
 * newest part is the key (`seriesOf`), so that it is found without knowing how many there are; a part that is full stays as
 * it is for ever (`fullPart`). Parts are numbered from 0, changes from 1.
 */
export const series = defineIndex({
  name: 'series',
  kind: 'state',
  fields: {
    part: int(),
    /** Number of its first change in the series. */
    first: int(),
    /** Changes in it. */
    count: int(),
    /** Height of its first change. */
    height: int(),
    /** What was there before its first change; by the kind of series (`seriesOf`). Numbers as `numberText` writes them. */
    opening: json<readonly string[]>(),
    /** Σ of all changes above zero up to its last one, and Σ of those below zero, without the sign; as `numberText` writes them. */
    gained: text(),
    lost: text(),
    /** How many changes these are. */
    gains: int(),
    losses: int(),
    /** The changes (`series-entry.ts`). */
    entries: digits(),
  },
})
export type SeriesDoc = DocOf<typeof series>

/** Keys of the series, which are the ids of their newest parts too. Amounts in the smallest unit; votes in 10^-8. */
export const seriesOf = {
  /**
   * Of an owner's tokens: available + frozen. The key is the id of the balance. Opening: available, frozen, then amount and
   * time of each frozen amount, in the node's order.
   */
  balance: (id: string): string => id,
  /** Votes of a voter; each change names the producer. Opening: producer and votes of each that the voter votes for. */
  voter: (voter: string): string => `@v/${voter}`,
  /** Votes of a producer; each change names the voter. Opening: all votes. */
  producer: (producer: string): string => `@p/${producer}`,
  /** A token's supply. Opening: the supply. */
  supply: (token: string): string => `@t/${token}`,
  /** IOST that an account has pledged for the gas of itself, and of others, in 10^-8. Opening: the sum. */
  pledgedForItself: (pledger: string): string => `@g/${pledger}`,
  pledgedForOthers: (pledger: string): string => `@o/${pledger}`,
  /** Coefficients of the bonus of a producer's voters and of that of all candidates, in 10^-50. Opening: the coefficient. */
  votersCoefficient: (producer: string): string => `@c/${producer}`,
  candidatesCoefficient: '@k',
  /**
   * The masks of a voter in 10^-58, by producer. Under the name `doubtOf(producer)` stands 1 where a mask cannot be known.
   * Opening: as that of `voter`. Gains and losses stay 0.
   */
  voterMasks: (voter: string): string => `@m/${voter}`,
  /** The mask of a candidate in 10^-58, under `""`, and its doubt. Opening: likewise. */
  candidateMask: (producer: string): string => `@n/${producer}`,
  /** Number of a token's holders; one change a block. Opening: that number. */
  holders: (token: string): string => `@h/${token}`,
  /**
   * What a producer and its voters took and were given, in 10^-8 IOST; each change says which: `exchange`, `candidate` with
   * what its voters were given beside it, `topup` with who paid, `voters`. Opening: the sum of all, which means nothing.
   */
  rewards: (producer: string): string => `@r/${producer}`,
  /** Owners of an item of token721.iost, by its id; each change, of 1, names who gave it (`""`: issued) and who got it. Opening: their number. */
  item: (id: string): string => `@x/${id}`,
} as const

/** Id of a part that is full. Neither `#` nor `@` is a letter of a token, with which the other ids begin. */
export const fullPart = (key: string, part: number): string => `#${part}/${key}`

/** The name by which masks say that what was earned from a producer before its contract wrote receipts is not known. */
export const doubtOf = (producer: string): string => `?${producer}`
