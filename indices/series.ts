import { type DocOf, defineIndex, digits, int, json, text } from './define.ts'

/**
 * The history of an amount: every change, in chain order, in parts of some 30 changes, so that its value at any height
 * can be computed. The id of the newest part is the key (`seriesOf`), so it is found without knowing the number of
 * parts. A full part never changes again (`fullPart`). Parts are numbered from 0, changes from 1.
 */
export const series = defineIndex({
  name: 'series',
  kind: 'state',
  fields: {
    part: int(),
    /** Number in the series of the first change of this part. */
    first: int(),
    /** Number of changes in this part. */
    count: int(),
    /** Height of the first change of this part. */
    height: int(),
    /**
     * The value before the first change, in the form of the kind of series (`seriesOf`). Numbers are in the
     * format of `numberText`.
     */
    opening: json<readonly string[]>(),
    /**
     * Sum of all positive changes up to the last one of this part, and sum of the negative ones without the
     * sign; in the format of `numberText`.
     */
    gained: text(),
    lost: text(),
    /** Number of changes in each sum. */
    gains: int(),
    losses: int(),
    /** The changes (`series-entry.ts`). */
    entries: digits(),
  },
})
export type SeriesDoc = DocOf<typeof series>

/**
 * Keys of the series, which are also the ids of their newest parts. Amounts are in the smallest unit, votes in 10^-8.
 */
export const seriesOf = {
  /**
   * An owner's amount of a token: available + frozen. The key is the id of the balance. Opening: available,
   * frozen, then amount and time of each frozen amount, in the node's order.
   */
  balance: (id: string): string => id,
  /**
   * Votes of a voter; each change names the producer. Opening: producer and votes, for each producer with
   * votes of the voter.
   */
  voter: (voter: string): string => `@v/${voter}`,
  /** Votes of a producer; each change names the voter. Opening: all votes. */
  producer: (producer: string): string => `@p/${producer}`,
  /** A token's supply. Opening: the supply. */
  supply: (token: string): string => `@t/${token}`,
  /** IOST that an account has pledged for gas, its own and that of others, in 10^-8. Opening: the sum. */
  pledgedForItself: (pledger: string): string => `@g/${pledger}`,
  pledgedForOthers: (pledger: string): string => `@o/${pledger}`,
  /**
   * Coefficients of the bonus of a producer's voters, and of the bonus of all candidates, in 10^-50. Opening:
   * the coefficient.
   */
  votersCoefficient: (producer: string): string => `@c/${producer}`,
  candidatesCoefficient: '@k',
  /**
   * The masks of a voter in 10^-58, by producer. The value 1 under the name `formatDoubt(producer)` marks a mask
   * that cannot be known. Opening: as for `voter`. Gains and losses stay 0.
   */
  voterMasks: (voter: string): string => `@m/${voter}`,
  /** The mask of a candidate in 10^-58, under `""`, and its doubt. Opening: as for `voterMasks`. */
  candidateMask: (producer: string): string => `@n/${producer}`,
  /** Number of a token's holders; one change a block. Opening: that number. */
  holders: (token: string): string => `@h/${token}`,
  /**
   * Rewards that a producer and its voters took and were given, in 10^-8 IOST. Each change has its kind:
   * `exchange`, `candidate` with the amount that its voters were given beside it, `topup` with the payer,
   * `voters`. Opening: the sum of all, which has no meaning.
   */
  rewards: (producer: string): string => `@r/${producer}`,
  /**
   * Owners of an item of token721.iost, by its id. Each change is 1 and names the giver (`""`: issued) and
   * the recipient. Opening: the number of owners.
   */
  item: (id: string): string => `@x/${id}`,
} as const

/** Id of a full part. The other ids begin with the name of a token, which contains neither `#` nor `@`. */
export const fullPart = (key: string, part: number): string => `#${part}/${key}`

/** The name under which masks record that earnings from a producer before its contract wrote receipts are unknown. */
export const formatDoubt = (producer: string): string => `?${producer}`
