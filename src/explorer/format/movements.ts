import { frozenUntil, type Moved, memoOf, movedBy, partiesOf, type RecordRow } from './record.ts'

/** A movement of a transaction. */
export type Movement = TokenMovement | NftMovement

export type TokenMovement = Moved & MovementParties

export type NftMovement = MovementParties & {
  readonly collection: string
  /** Id of the NFT; undefined: a contract issued it, and no receipt names it. */
  readonly nft: string | undefined
}

type MovementParties = {
  /** `""`: issued. */
  readonly from: string
  /** `""`: destroyed. */
  readonly to: string
  readonly memo: string
  /** End of the freeze, nanoseconds since 1970; undefined: the tokens are not frozen. */
  readonly until: string | undefined
}

type Row = Pick<RecordRow, 'action_name' | 'data' | 'from' | 'to' | 'amount' | 'token'>

/** The token movements of records, in order. */
export const movementsIn = (rows: readonly Row[]): readonly TokenMovement[] =>
  rows.flatMap(row => {
    const moved = movedBy(row)
    if (moved === undefined) return []
    const { action_name, data } = row
    return [{ ...moved, ...partiesOf(row), memo: memoOf(action_name, data), until: frozenUntil(action_name, data) }]
  })
