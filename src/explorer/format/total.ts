import { fromUnits, unitsOf } from '#chain/amount.ts'
import { sumOf } from './amount.ts'

type Balance = {
  readonly balance: string
  readonly frozen_balance: { readonly total: string }
  readonly vote_balance: { readonly total: string }
}

/** Gas of a pledge of one IOST, at most. */
const GAS_PER_IOST = 300_000n
const IOST_DECIMALS = 8

/** The gas of an account: its limit, and the pledges that the account made. */
export type PledgedGas = {
  readonly limit: string
  readonly pledged_info: readonly { readonly pledger: string; readonly amount: string }[]
}

/** The IOST that others pledged for the gas of an account: its limit names the sum of all pledges for it. */
export function sumPledgesOfOthers(account: string, { limit, pledged_info }: PledgedGas): string {
  const all = (unitsOf(limit, IOST_DECIMALS) ?? 0n) / GAS_PER_IOST
  const own = pledged_info.filter(({ pledger }) => pledger === account)
  return fromUnits(
    own.reduce((rest, { amount }) => rest - (unitsOf(amount, IOST_DECIMALS) ?? 0n), all),
    IOST_DECIMALS,
  )
}

/** The IOST that an owner pledged for gas, the total of the rich list, and the sum of both. */
export const totalsOf = (balance: Balance, pledges: readonly { readonly amount: string }[]) => {
  const pledged = sumOf(pledges.map(({ amount }) => amount))
  const ranked = sumOf([balance.balance, balance.frozen_balance.total, balance.vote_balance.total])
  return { pledged, ranked, all: sumOf([ranked, pledged]) }
}
