import type { Action, Receipt } from '#chain/block.ts'
import { parseChainArguments, splitFuncName } from '#chain/effects.ts'
import { Exact, type ExactJson, tryParseExact } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import type { TxScope } from './scope.ts'

export type ParsedReceipt = {
  /** `token.iost`; the node prefixes the id of the emitting contract, so it can be trusted. */
  readonly contract: string
  /** Name of the contract's action or function: `transfer`. */
  readonly name: string
  /** Elements of the content when it is a JSON array, else []. */
  readonly args: readonly ExactJson[]
  /** The whole content when it is an array or object of JSON. */
  readonly value: ExactJson | undefined
}

/** Cache: parsing is the most expensive step, and state and records both need the result. */
const parsedReceipts = new WeakMap<Receipt, ParsedReceipt>()
const parsedActions = new WeakMap<Action, readonly ExactJson[] | undefined>()

export function parseReceipt(receipt: Receipt): ParsedReceipt {
  const known = parsedReceipts.get(receipt)
  if (known !== undefined) return known
  const value = /^\s*[[{]/.test(receipt.content) ? tryParseExact(receipt.content) : undefined
  const fresh: ParsedReceipt = { ...splitFuncName(receipt.funcName), args: Array.isArray(value) ? value : [], value }
  parsedReceipts.set(receipt, fresh)
  return fresh
}

/** Arguments of an action; undefined when its data begins with no JSON array (a signer may write anything). */
export function parseActionArguments(action: Action | undefined): readonly ExactJson[] | undefined {
  if (action === undefined) return undefined
  if (parsedActions.has(action)) return parsedActions.get(action)
  const args = parseChainArguments(action.data)
  parsedActions.set(action, args)
  return args
}

/** The argument at a position as text; undefined when it is not text. */
export function findText(args: readonly ExactJson[], at: number): string | undefined {
  const value = args[at]
  return typeof value === 'string' ? value : undefined
}

/** The argument at a position as the digits of a number, as written; undefined when it is not a number. */
export function findDigits(args: readonly ExactJson[], at: number): string | undefined {
  const value = args[at]
  if (typeof value === 'number') return String(value)
  return value instanceof Exact ? value.text : undefined
}

/** The argument at a position, which must be text. */
export function requireTextArgument(scope: TxScope, parsed: ParsedReceipt, at: number): string {
  const text = findText(parsed.args, at)
  if (text === undefined) throw malformed(scope, parsed, at)
  return text
}

/**
 * A receipt of a token contract that cannot be read must not be skipped: balances and owners would be wrong from then
 * on.
 */
export function malformed({ scope, tx }: TxScope, parsed: ParsedReceipt, at: number): Failure {
  return new Failure(
    'bad_block',
    `Block ${scope.block.height}, transaction ${tx.hash}: receipt ${parsed.contract}/${parsed.name} has no usable argument ${at}.`,
  )
}
