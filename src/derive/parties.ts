import { unitsAsRead } from '#chain/amount.ts'
import type { Transaction } from '#chain/block.ts'
import { AMOUNT_AT, isMovement } from '#chain/effects.ts'
import { Exact, type ExactJson, writeJson } from '#chain/json.ts'
import { isPossibleName } from '#chain/names.ts'
import { findText, parseActionArguments, parseReceipt } from './receipt.ts'
import type { Movement } from './token.ts'

export type Parties = { readonly from: string; readonly to: string }

/** An action or a receipt: its contract, its name, and its arguments if they are a list. */
export type ActionCall = {
  readonly contract: string
  readonly name: string
  readonly args: readonly ExactJson[] | undefined
}

/** Positions of the two parties in the arguments; undefined: no party on that side. */
type Form = readonly [from: number | undefined, to: number | undefined]

/** Actions and receipts of system contracts whose arguments name both parties. */
const FORMS: ReadonlyMap<string, Form> = new Map([
  ['token.iost/transfer', [1, 2]],
  ['token.iost/transferFreeze', [1, 2]],
  ['token.iost/issue', [undefined, 1]],
  ['token.iost/destroy', [1, undefined]],
  ['token721.iost/transfer', [1, 2]],
  ['token721.iost/issue', [undefined, 1]],
  ['gas.iost/pledge', [0, 1]],
  ['gas.iost/unpledge', [1, 0]],
  ['vote_producer.iost/vote', [0, 1]],
  ['vote_producer.iost/unvote', [1, 0]],
  ['ram.iost/buy', [0, 1]],
  ['ram.iost/sell', [0, 1]],
  ['ram.iost/lend', [0, 1]],
])
/** Contracts whose other actions affect the account that their first argument names. */
const FIRST_IS_SUBJECT: ReadonlySet<string> = new Set(['auth.iost', 'vote_producer.iost', 'bonus.iost'])

/**
 * Sender and receiver of a row. Arguments are trusted only if a system contract has that form and they are
 * possible names; every other row goes from the publisher to the contract.
 */
export function deriveParties({ contract, name, args }: ActionCall, publisher: string): Parties {
  const plain = { from: publisher, to: contract }
  if (args === undefined || !contract.endsWith('.iost')) return plain
  const form = FORMS.get(`${contract}/${name}`)
  if (form !== undefined) {
    const from = party(args, form[0])
    const to = party(args, form[1])
    return from === undefined || to === undefined ? plain : { from, to }
  }
  if (!FIRST_IS_SUBJECT.has(contract)) return plain
  const subject = party(args, 0)
  if (subject === undefined) return plain
  return subject === publisher && name !== 'signUp' ? plain : { from: publisher, to: subject }
}

/** The accounts whose lists contain a row, each once: its parties, and the caller of an action's own row. */
export function listPartyAccounts({ from, to }: Parties, caller: string | undefined): readonly string[] {
  const names: string[] = []
  if (isPossibleName(from)) names.push(from)
  if (to !== from && isPossibleName(to)) names.push(to)
  if (caller !== undefined && caller !== from && caller !== to) names.push(caller)
  return names
}

function party(args: readonly ExactJson[], at: number | undefined): string | undefined {
  if (at === undefined) return ''
  const name = findText(args, at)
  return name !== undefined && isPossibleName(name) ? name : undefined
}

/** Position of the receipt that an action owns, by the action's position. */
export type Ownership = ReadonlyMap<number, number>

/**
 * Assigns to each action with a movement's name the first unused receipt of the same name with equal
 * arguments. Amounts are compared by value after truncation to the token's decimals, everything else exactly.
 * Each receipt is owned once. One pass over both.
 */
export function ownership(tx: Transaction, movements: ReadonlyMap<number, Movement>): Ownership {
  const owned = new Map<number, number>()
  const wanted = tx.actions.some(({ contract, actionName }) => isMovement(contract, actionName))
  if (!wanted) return owned
  const repeated = repetition(tx, movements)
  if (repeated !== undefined) return owned.set(0, repeated)
  const decimals = new Map<string, number>()
  const unused = new Map<string, number[]>()
  tx.receipt.receipts.forEach((receipt, at) => {
    const { contract, name, args } = parseReceipt(receipt)
    if (!isMovement(contract, name)) return
    const movement = movements.get(at)
    if (movement !== undefined) decimals.set(movement.token, movement.decimals)
    const key = formatCallKey(name, args, movement?.amount)
    const others = unused.get(key)
    if (others === undefined) unused.set(key, [at])
    else others.push(at)
  })
  // Positions are taken from the front; the reversed order makes each removal one step.
  for (const positions of unused.values()) positions.reverse()
  tx.actions.forEach((action, at) => {
    const { contract, actionName } = action
    const args = isMovement(contract, actionName) ? parseActionArguments(action) : undefined
    if (args === undefined) return
    const receipt = unused.get(formatCallKey(actionName, args, claimed(actionName, args, decimals)))?.pop()
    if (receipt !== undefined) owned.set(at, receipt)
  })
  return owned
}

/**
 * The receipt of the only action if it repeats the action letter by letter, as in nearly all transfers, and
 * no other receipt of that name comes before it. undefined: the values must be compared.
 */
function repetition({ actions, receipt }: Transaction, movements: ReadonlyMap<number, Movement>): number | undefined {
  const [action] = actions
  if (action === undefined || actions.length > 1 || movements.size > 1) return undefined
  const args = parseActionArguments(action)
  if (args === undefined) return undefined
  for (const [at, each] of receipt.receipts.entries()) {
    const { contract, name } = parseReceipt(each)
    if (name !== action.actionName || !isMovement(contract, name)) continue
    if (each.content !== action.data) return undefined
    const decimals = new Map([...movements.values()].map(movement => [movement.token, movement.decimals]))
    return claimed(name, args, decimals) === movements.get(at)?.amount ? at : undefined
  }
  return undefined
}

function claimed(name: string, args: readonly ExactJson[], decimals: ReadonlyMap<string, number>): bigint | undefined {
  const place = AMOUNT_AT.get(name)
  const places = decimals.get(findText(args, 0) ?? '')
  if (place === undefined || places === undefined) return undefined
  return unitsAsRead(findText(args, place) ?? '', places)
}

/** A key that is equal for equal arguments. `amount` replaces the text of the amount. */
function formatCallKey(name: string, args: readonly ExactJson[], amount: bigint | undefined): string {
  const place = amount === undefined ? undefined : AMOUNT_AT.get(name)
  const parts = args.map((arg, at) => (at === place ? `#${amount}` : formatArgument(arg)))
  return JSON.stringify([name, ...parts])
}

function formatArgument(value: ExactJson): string {
  if (typeof value === 'string') return `"${value}`
  if (typeof value === 'number') return `+${value}`
  return value instanceof Exact ? `+${value.text}` : writeJson(value)
}
