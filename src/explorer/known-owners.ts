import { getBalances } from '#actions/get-balances.ts'
import { isPossibleName } from '#chain/names.ts'
import { argumentsIn, isOwner, UNKNOWN_SIGNATURE } from './format/arguments.ts'
import { ifFound } from './found.ts'
import type { Visit } from './page.ts'
import { isDelayed, type Transaction } from './part/transaction-facts.tsx'

/** The owners among a transaction's arguments that have a page; `all`: every named owner. */
export type KnownOwners = ReadonlySet<string> | 'all'

/** Maximum number of owners to check; one call answers for all. */
const MOST = 50

/**
 * The owners that exist. A successful transaction names only existing owners. Those of a failed or delayed
 * one are checked.
 */
export const knownOwners = async (visit: Pick<Visit, 'ask'>, transaction: Transaction): Promise<KnownOwners> => {
  const { actions, tx_receipt } = transaction
  if (tx_receipt.status_code === 'SUCCESS' && !isDelayed(transaction)) return 'all'
  const named = actions.flatMap(action => argumentsIn(action, UNKNOWN_SIGNATURE) ?? []).filter(isOwner)
  const names = [...new Set(named.map(({ value }) => value))].filter(isPossibleName).slice(0, MOST)
  if (names.length === 0) return new Set()
  const found = await ifFound(visit.ask(getBalances, { accounts: names.join(',') }))
  return new Set(names.filter((_name, at) => (found?.balances[at] ?? null) !== null))
}
