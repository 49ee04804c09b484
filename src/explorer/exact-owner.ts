import type { Ask } from '#actions/ask.ts'
import { getAccountBalance } from '#actions/get-account-balance.ts'
import { isHash } from '#chain/names.ts'

/**
 * The canonical name of an owner: a contract's id may be given without its prefix. Throws the failures of
 * get-account-balance.
 */
export const exactOwner = async (ask: Ask, id: string): Promise<string> =>
  isHash(id) ? (await ask(getAccountBalance, { account: id })).name : id
