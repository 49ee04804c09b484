import { argumentsAsRead } from '#chain/arguments.ts'
import type { Action, Receipt, Transaction } from '#chain/block.ts'
import { isMovement, partsOfFuncName } from '#chain/effects.ts'
import { Exact, type ExactJson, parseExact } from '#chain/json.ts'

/** A receipt of a system contract, parsed. */
export type ParsedReceipt = {
  /** `token.iost`; the node prefixes the id of the emitting contract, so it can be trusted. */
  readonly contract: string
  /** Name of the contract's action or function: `transfer`. */
  readonly name: string
  /** Elements of the content when it is a JSON array, else []. */
  readonly args: readonly ExactJson[]
  /** The whole content when it is JSON. */
  readonly value: ExactJson | undefined
}

/** Cache: parsing is the most expensive step, and `needsOf`, state and records all need the result. */
const parsedReceipts = new WeakMap<Receipt, ParsedReceipt>()
const parsedActions = new WeakMap<Action, readonly ExactJson[] | undefined>()

export const parseReceipt = (receipt: Receipt): ParsedReceipt => {
  const known = parsedReceipts.get(receipt)
  if (known !== undefined) return known
  const value = jsonOf(receipt.content)
  const fresh: ParsedReceipt = {
    ...partsOfFuncName(receipt.funcName),
    args: Array.isArray(value) ? value : [],
    value,
  }
  parsedReceipts.set(receipt, fresh)
  return fresh
}

/** Arguments of an action; undefined when its data begins with no JSON array (a signer may write anything). */
export const argumentsOf = (action: Action): readonly ExactJson[] | undefined => {
  if (parsedActions.has(action)) return parsedActions.get(action)
  const args = argumentsAsRead(action.data)
  parsedActions.set(action, args)
  return args
}

const jsonOf = (text: string): ExactJson | undefined => {
  const first = text.trimStart()[0]
  if (first !== '[' && first !== '{') return undefined
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}

/** The argument at a position as text; undefined when it is not text. */
export const textAt = (args: readonly ExactJson[], at: number): string | undefined => {
  const value = args[at]
  return typeof value === 'string' ? value : undefined
}

/** The argument at a position as the digits of a number, as written; undefined when it is not a number. */
export const digitsAt = (args: readonly ExactJson[], at: number): string | undefined => {
  const value = args[at]
  if (typeof value === 'number') return String(value)
  return value instanceof Exact ? value.text : undefined
}

/** Makes a test for receipts that repeat an action. Most do; the action has named the row's lists already. */
export const repetitionsOf = ({ actions }: Transaction): ((parsed: ParsedReceipt, content: string) => boolean) => {
  const [only] = actions
  if (actions.length === 1 && only !== undefined)
    return ({ contract, name }, content) =>
      only.data === content && only.actionName === name && only.contract === contract
  // There may be as many receipts as actions, so comparing each with each would take quadratic time.
  const keys = new Set<string>()
  for (const { contract, actionName, data } of actions)
    if (isMovement(contract, actionName)) keys.add(`${contract}/${actionName}\0${data}`)
  return ({ contract, name }, content) => keys.has(`${contract}/${name}\0${content}`)
}
