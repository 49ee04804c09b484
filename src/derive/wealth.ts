import { balanceId, balances } from '#indices/balance.ts'
import { type WealthDoc, wealth } from '#indices/wealth.ts'
import type { State } from './state.ts'

/** Wealth rows of the owners a block touches; read from their balances when the block ends. */
export type WealthDrafts = {
  /** The owner's IOST moved. */
  touch(owner: string): void
  open(owner: string): void
  addVotes(voter: string, votes: bigint): void
  /** Puts the rows that changed; gives by how many the rows above zero grew. Balances must have been put before. */
  settle(): number
}

export const wealthDrafts = (state: State): WealthDrafts => {
  const votes = new Map<string, bigint>()
  const opened = new Set<string>()
  const touch = (owner: string): void => {
    if (!votes.has(owner)) votes.set(owner, 0n)
  }
  /** Puts the owner's row if it changed; 1 if it rose above zero, −1 if it fell to zero. */
  const settleOwner = (owner: string, more: bigint): number => {
    const before = state.get(wealth, owner)
    if (before === undefined && !opened.has(owner)) return 0
    const now = wealthOf(state, owner, (before?.vote ?? 0n) + more)
    if (before !== undefined && sameWealth(before, now)) return 0
    state.put(wealth, now)
    return Number(now.total > 0n) - Number((before?.total ?? 0n) > 0n)
  }
  return {
    touch,
    open: owner => {
      opened.add(owner)
      touch(owner)
    },
    addVotes: (voter, more) => {
      votes.set(voter, (votes.get(voter) ?? 0n) + more)
    },
    settle: () => {
      let listed = 0
      for (const [owner, more] of votes) listed += settleOwner(owner, more)
      return listed
    },
  }
}

/** The row of an owner with these votes and the balance it has now. */
const wealthOf = (state: State, owner: string, vote: bigint): WealthDoc => {
  const balance = state.get(balances, balanceId('iost', owner))
  const token = balance?.amount ?? 0n
  const frozen = balance?.frozen ?? 0n
  return { id: owner, owner, total: token + vote + frozen, token, vote, frozen }
}

const sameWealth = (a: WealthDoc, b: WealthDoc): boolean =>
  a.token === b.token && a.frozen === b.frozen && a.vote === b.vote
