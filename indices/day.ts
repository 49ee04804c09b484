import { type DocOf, defineIndex, int, json, long, text } from './define.ts'

/**
 * Figures of one UTC day, by the times of its blocks. Only days with blocks have a document. Id: the date,
 * `2026-11-21`. Values at the day's end are those of its last block.
 */
export const days = defineIndex({
  name: 'days',
  kind: 'state',
  fields: {
    blocks: int(),
    /** Base transactions excluded, also from `failed` and `actions`. */
    transactions: int(),
    failed: int(),
    /** Actions of failed transactions included. */
    actions: int(),
    /** Rows that moved a token. */
    movements: int(),
    new_accounts: int(),
    new_contracts: int(),
    /** Gas × 100. */
    gas_usage: long(),
    /** IOST moved by these rows, in 10^-8. Stored as text because more can move in a day than exists. */
    iost_moved: text(),
    /** IOST that buyers of RAM paid as fees, in 10^-8. */
    ram_fees: long(),
    /** ram.iost's market at the day's end, as in `statistics`. */
    ram: json<{ readonly left: string; readonly used: string; readonly balance: string }>(),
    /** Sum of the votes of the registered producers at the day's end, in 10^-8. */
    votes: long(),
    highest_tps: int(),
  },
})
export type DayDoc = DocOf<typeof days>

/** The counts of a day before its first block, and of one without blocks. */
export const EMPTY_DAY = {
  blocks: 0,
  transactions: 0,
  failed: 0,
  actions: 0,
  movements: 0,
  new_accounts: 0,
  new_contracts: 0,
  gas_usage: 0n,
  iost_moved: '0',
  ram_fees: 0n,
  highest_tps: 0,
} as const
