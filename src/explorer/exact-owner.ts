import type { Ask } from '#actions/ask.ts'
import { getAccountBalance } from '#actions/get-account-balance.ts'
import { isHash } from '#chain/names.ts'

/**
 * The name of an owner as the chain has it: the id of a contract may be given without its prefix. Throws what
 * get-account-balance throws.
 */
export const exactOwner = async (ask: Ask, id: string): Promise<string> =>
  isHash(id) ? (await ask(getAccountBalance, { account: id })).name : id
