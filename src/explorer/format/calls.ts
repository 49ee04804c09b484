import { parseChainArguments } from '#chain/effects.ts'
import type { CalledAction } from './arguments.ts'
import { formatValue } from './text.ts'

export type ShownReceipt = { readonly func_name: string; readonly content: string }

/** A receipt with the receipts of inner calls. */
export type CallTree = ShownReceipt & { readonly inner: readonly CallTree[] }

/** The action that a system contract's action calls before it writes its receipt, and the argument that both share. */
type Rule = { readonly calls: string; readonly own: number; readonly called: number }

const RULES: ReadonlyMap<string, Rule> = new Map([
  ['gas.iost/pledge', { calls: 'token.iost/transfer', own: 2, called: 3 }],
  ['gas.iost/unpledge', { calls: 'token.iost/transferFreeze', own: 2, called: 3 }],
  ['vote_producer.iost/vote', { calls: 'token.iost/transfer', own: 2, called: 3 }],
  ['vote_producer.iost/unvote', { calls: 'token.iost/transferFreeze', own: 2, called: 3 }],
  ['vote_producer.iost/topupVoterBonus', { calls: 'token.iost/transfer', own: 1, called: 3 }],
  ['vote_producer.iost/topupCandidateBonus', { calls: 'token.iost/transfer', own: 0, called: 3 }],
  ['auth.iost/signUp', { calls: 'gas.iost/pledge', own: 0, called: 1 }],
])

/**
 * Nests the receipts of inner calls. The chain lists receipts in the order of writing, without the depth of the calls.
 * The calls of system contracts follow from their rules; all other receipts stay at the same level.
 */
export function nestCalls(receipts: readonly ShownReceipt[]): readonly CallTree[] {
  const roots: CallTree[] = []
  for (const receipt of receipts) {
    const last = roots.at(-1)
    const inner = last !== undefined && isInner(last, receipt) ? roots.splice(-1) : []
    roots.push({ func_name: receipt.func_name, content: receipt.content, inner })
  }
  return roots
}

function isInner(before: ShownReceipt, { func_name, content }: ShownReceipt): boolean {
  const rule = RULES.get(func_name)
  if (rule?.calls !== before.func_name) return false
  const named = parseReceiptTexts(content)[rule.own]
  return named !== undefined && parseReceiptTexts(before.content)[rule.called] === named
}

const parseReceiptTexts = (content: string): readonly string[] => (parseChainArguments(content) ?? []).map(formatValue)

/** Actions that write one receipt under their own name, and the number of first arguments that both share. */
const OWN: ReadonlyMap<string, number> = new Map([
  ['token.iost/transfer', 3],
  ['token.iost/transferFreeze', 3],
  ['token.iost/issue', 2],
  ['token.iost/destroy', 2],
  ['gas.iost/pledge', 2],
  ['gas.iost/unpledge', 2],
  ['vote_producer.iost/vote', 2],
  ['vote_producer.iost/unvote', 2],
  ['auth.iost/signUp', 1],
])

const formatCallName = ({ contract, action_name }: CalledAction): string => `${contract}/${action_name}`

/** Whether an action writes exactly one receipt. Any other action may write any number. */
const isFixed = (action: CalledAction): boolean => OWN.has(formatCallName(action))

function isOwn(action: CalledAction, receipt: ShownReceipt): boolean {
  const [given, received] = [parseReceiptTexts(action.data), parseReceiptTexts(receipt.content)]
  const same = given.slice(0, OWN.get(formatCallName(action)) ?? 0)
  return receipt.func_name === formatCallName(action) && same.every((text, at) => received[at] === text)
}

/**
 * The receipts of each action of a transaction: those of an action precede those of the next one, without a
 * separator. undefined: there are several ways to divide them, or none.
 */
export function splitByAction(
  actions: readonly CalledAction[],
  roots: readonly CallTree[],
): readonly (readonly CallTree[])[] | undefined {
  // For each action, from the last: the number of ways to divide the receipts from each position on among it
  // and all later actions; 2 means several.
  let ways: readonly number[] = [...roots.map(() => 0), 1]
  const table = [ways]
  for (const action of actions.toReversed()) {
    ways = countWays(action, roots, ways)
    table.unshift(ways)
  }
  if (table[0]?.[0] !== 1) return undefined
  let begin = 0
  return actions.map((action, at) => {
    const later = table[at + 1] ?? []
    const end = isFixed(action) ? begin + 1 : later.findIndex((count, place) => place >= begin && count > 0)
    const own = roots.slice(begin, end)
    begin = end
    return own
  })
}

const countWays = (action: CalledAction, roots: readonly CallTree[], later: readonly number[]): readonly number[] =>
  later.map((_, begin) => {
    const root = roots[begin]
    if (isFixed(action)) return root !== undefined && isOwn(action, root) ? (later[begin + 1] ?? 0) : 0
    return Math.min(
      2,
      later.slice(begin).reduce((sum, count) => sum + count, 0),
    )
  })
