import { sumOf } from './amount.ts'

type Balance = {
  readonly balance: string
  readonly frozen_balance: { readonly total: string }
  readonly vote_balance: { readonly total: string }
}

/** The IOST that an owner pledged for gas, the total of the rich list, and the sum of both. */
export const totalsOf = (balance: Balance, pledges: readonly { readonly amount: string }[]) => {
  const pledged = sumOf(pledges.map(({ amount }) => amount))
  const ranked = sumOf([balance.balance, balance.frozen_balance.total, balance.vote_balance.total])
  return { pledged, ranked, all: sumOf([ranked, pledged]) }
}
