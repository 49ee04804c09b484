import { balanceId, balances } from '#indices/balance.ts'
import { wealth } from '#indices/wealth.ts'
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
      for (const [owner, more] of votes) {
        const before = state.get(wealth, owner)
        if (before === undefined && !opened.has(owner)) continue
        const balance = state.get(balances, balanceId('iost', owner))
        const token = balance?.amount ?? 0n
        const frozen = balance?.frozen ?? 0n
        const vote = (before?.vote ?? 0n) + more
        if (before?.token === token && before.frozen === frozen && before.vote === vote) continue
        const total = token + vote + frozen
        const was = (before?.total ?? 0n) > 0n
        if (was !== total > 0n) listed += was ? -1 : 1
        state.put(wealth, { id: owner, owner, total, token, vote, frozen })
      }
      return listed
    },
  }
}
