import { contracts } from '#indices/contract.ts'
import { listOf } from '#indices/list.ts'
import { tokens } from '#indices/token.ts'
import type { Context } from '../define.ts'
import { isListedAtHead } from '../list/head-rows.ts'
import { requireFound, unknown } from './unknown.ts'

type LookupContext = Pick<Context, 'view' | 'node' | 'head'>

/** Throws 'not_found' or 'loading' unless the token exists: it is stored or has rows in the head blocks. */
export async function requireToken(context: LookupContext, symbol: string): Promise<void> {
  if ((await context.view.get(tokens, symbol)) !== undefined) return
  if (!isListedAtHead(context.head, listOf.token(symbol))) throw unknown(context, 'token', symbol)
}

/** Throws 'not_found' or 'loading' unless the tokens exist as in `requireToken`; unknown names as in `requireFound`. */
export async function requireTokens(
  context: LookupContext & Pick<Context, 'compat'>,
  symbols: readonly string[],
): Promise<void> {
  const stored = await context.view.getMany(tokens, symbols)
  requireFound(
    context,
    'token',
    symbols.map((symbol, at) => {
      const exists = stored[at] !== undefined || isListedAtHead(context.head, listOf.token(symbol))
      return [symbol, exists ? symbol : undefined]
    }),
  )
}

/** Throws 'not_found' or 'loading' unless the contract exists: it is stored or has rows in the head blocks. */
export async function requireContract(context: LookupContext, id: string): Promise<void> {
  if ((await context.view.get(contracts, id)) !== undefined) return
  if (!isListedAtHead(context.head, listOf.contract(id))) throw unknown(context, 'contract', id)
}
