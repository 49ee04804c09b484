import { type DocOf, defineIndex } from './define.ts'
import { int, json, long, text } from './fields.ts'

/**
 * What happened on a UTC day, by the times of its blocks; only days with blocks have a document. Id: the date,
 * `2026-11-21`. What was so at the day's end is that of its last block.
 */
export const days = defineIndex({
  name: 'days',
  kind: 'state',
  fields: {
    blocks: int(),
    /** Without base transactions, as are `failed` and `actions`. */
    transactions: int(),
    failed: int(),
    /** Of failed transactions too. */
    actions: int(),
    /** Rows that moved a token. */
    movements: int(),
    new_accounts: int(),
    new_contracts: int(),
    /** Gas × 100. */
    gas_usage: long(),
    /** IOST of those rows, in 10^-8, as text: in a day more may be moved than there is. */
    iost_moved: text(),
    /** IOST that buyers of RAM paid as fees, in 10^-8. */
    ram_fees: long(),
    /** ram.iost's market at the day's end, as in `statistics`. */
    ram: json<{ readonly left: string; readonly used: string; readonly balance: string }>(),
    /** Σ votes of the registered producers at the day's end, in 10^-8. */
    votes: long(),
    highest_tps: int(),
  },
})
export type DayDoc = DocOf<typeof days>
