import { isHash } from '#chain/names.ts'
import { accounts } from '#indices/account.ts'
import { balances } from '#indices/balance.ts'
import { contracts } from '#indices/contract.ts'
import { listOf, lists } from '#indices/list.ts'
import type { View } from '#store/port.ts'
import type { Context } from '../define.ts'
import { unknown } from './unknown.ts'

/**
 * The owner a caller means: the name as it stands when the chain ever saw it, else, for 32 bytes of base58, the
 * contract of that id. A base58 text may be a public key that owns tokens or a contract's id without its prefix.
 * Throws 'not_found' or 'loading' when neither was ever seen.
 */
export const ownerOf = async (context: Context, name: string): Promise<string> => {
  if (await isKnown(context.view, name)) return name
  const contract = `Contract${name}`
  if (isHash(name) && (await isKnown(context.view, contract))) return contract
  throw unknown(context, 'owner', name)
}

/** Signed up, deployed, ever had a row of a balance, or is in somebody's transaction. */
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
