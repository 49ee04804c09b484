import { isHash } from '#chain/names.ts'
import { accounts } from '#indices/account.ts'
import { balances } from '#indices/balance.ts'
import { contracts } from '#indices/contract.ts'
import { listOf, lists } from '#indices/list.ts'
import type { View } from '#store/port.ts'
import type { Context } from '../define.ts'
import { unknown } from './unknown.ts'

/**
 * The owner that a caller means: the exact name if it ever occurred on the chain, otherwise, for 32 bytes of base58,
 * the contract with that id. A base58 text may be a public key that owns tokens, or a contract's id without its prefix.
 * Throws 'not_found' or 'loading' when neither ever occurred.
 */
export const ownerOf = async (context: Context, name: string): Promise<string> => {
  if (await isKnown(context.view, name)) return name
  const contract = `Contract${name}`
  if (isHash(name) && (await isKnown(context.view, contract))) return contract
  throw unknown(context, 'owner', name)
}

/** Signed up, was deployed, ever had a balance, or occurs in a transaction. */
const isKnown = async (view: View, name: string): Promise<boolean> => {
  const found = await Promise.all([
    view.get(accounts, name),
    view.get(contracts, name),
    view.get(lists, listOf.account(name)),
  ])
  if (found.some(doc => doc !== undefined)) return true
  const rows = await view.page(balances, 'rowsOfOwner', { group: name, offset: 0, limit: 1 })
  return rows.length > 0
}
