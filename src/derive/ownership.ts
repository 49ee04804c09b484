import type { Transaction } from '#chain/block.ts'
import { AMOUNT_AT, isMovement } from '#chain/effects.ts'
import { Exact, type ExactJson, writeJson } from '#chain/json.ts'
import { argumentsOf, saidBy, textAt } from './receipt.ts'
import { amountIn, type Movement } from './token.ts'

/** Position of the receipt an action owns, by the action's position. */
export type Ownership = ReadonlyMap<number, number>

/**
 * Gives each action of a movement's name the first unused receipt of the same name whose arguments are equal: amounts by
 * value after cutting to the token's decimals, all else exactly. Each receipt is owned once. One pass over both.
 */
export const ownership = (tx: Transaction, movements: ReadonlyMap<number, Movement>): Ownership => {
  const owned = new Map<number, number>()
  const wanted = tx.actions.some(({ contract, actionName }) => isMovement(contract, actionName))
  if (!wanted) return owned
  const decimals = new Map<string, number>()
  const unused = new Map<string, number[]>()
  tx.receipt.receipts.forEach((receipt, at) => {
    const { contract, name, args } = saidBy(receipt)
    if (!isMovement(contract, name)) return
    const movement = movements.get(at)
    if (movement !== undefined) decimals.set(movement.token, movement.decimals)
    const key = keyOf(name, args, movement?.amount)
    const others = unused.get(key)
    if (others === undefined) unused.set(key, [at])
    else others.push(at)
  })
  // Taken from the front; kept reversed so that each taking is one step.
  for (const positions of unused.values()) positions.reverse()
  tx.actions.forEach((action, at) => {
    const { contract, actionName } = action
    const args = isMovement(contract, actionName) ? argumentsOf(action) : undefined
    if (args === undefined) return
    const receipt = unused.get(keyOf(actionName, args, claimed(actionName, args, decimals)))?.pop()
    if (receipt !== undefined) owned.set(at, receipt)
  })
  return owned
}

const claimed = (
  name: string,
  args: readonly ExactJson[],
  decimals: ReadonlyMap<string, number>,
): bigint | undefined => {
  const place = AMOUNT_AT.get(name)
  const places = decimals.get(textAt(args, 0) ?? '')
  if (place === undefined || places === undefined) return undefined
  return amountIn(textAt(args, place) ?? '', places)
}

/** Equal for equal arguments. `amount` replaces the text of the amount. */
const keyOf = (name: string, args: readonly ExactJson[], amount: bigint | undefined): string => {
  const place = amount === undefined ? undefined : AMOUNT_AT.get(name)
  const parts = args.map((arg, at) => (at === place ? `#${amount}` : textOf(arg)))
  return JSON.stringify([name, ...parts])
}

const textOf = (value: ExactJson): string => {
  // Go replaces half surrogate pairs when it reads the action; the receipt has the replacement.
  if (typeof value === 'string') return `"${value.toWellFormed()}`
  if (typeof value === 'number') return `+${value}`
  return value instanceof Exact ? `+${value.text}` : writeJson(value)
}
