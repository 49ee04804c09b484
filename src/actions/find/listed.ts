import { contracts } from '#indices/contract.ts'
import { listOf } from '#indices/list.ts'
import { tokens } from '#indices/token.ts'
import type { Context } from '../define.ts'
import { isListedAtHead } from '../list/head-rows.ts'
import { unknown } from './unknown.ts'

type Asked = Pick<Context, 'view' | 'node' | 'head'>

/** Throws 'not_found' or 'loading' unless the token exists: it is stored or has rows in the head blocks. */
export const requireToken = async (context: Asked, symbol: string): Promise<void> => {
  if ((await context.view.get(tokens, symbol)) !== undefined) return
  if (!isListedAtHead(context.head, listOf.token(symbol))) throw unknown(context, 'token', symbol)
}

/** Throws 'not_found' or 'loading' unless the contract exists: it is stored or has rows in the head blocks. */
export const requireContract = async (context: Asked, id: string): Promise<void> => {
  if ((await context.view.get(contracts, id)) !== undefined) return
  if (!isListedAtHead(context.head, listOf.contract(id))) throw unknown(context, 'contract', id)
}
