import { frozenUntil, type Moved, memoOf, movedBy, type Recorded } from './record.ts'

/** Tokens that a transaction moved. */
export type Movement = Moved & {
  /** `""`: they were issued. */
  readonly from: string
  /** `""`: they were destroyed. */
  readonly to: string
  readonly memo: string
  /** Nanoseconds since 1970 until which the receiver cannot use them; undefined: at once. */
  readonly until: string | undefined
}

type Row = Pick<Recorded, 'action_name' | 'data' | 'from' | 'to' | 'amount' | 'token'>

/** The token movements of records, in order. */
export const movementsIn = (rows: readonly Row[]): readonly Movement[] =>
  rows.flatMap(row => {
    const moved = movedBy(row)
    if (moved === undefined) return []
    const { action_name, data, from, to } = row
    return [{ ...moved, from, to, memo: memoOf(action_name, data), until: frozenUntil(action_name, data) }]
  })
