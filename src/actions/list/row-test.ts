import { parseUnits } from '#chain/amount.ts'
import { hasFailed } from '#chain/effects.ts'
import type { ListedRecord } from '#indices/record.ts'
import type { RowTexts } from '../find/overflow.ts'
import { MAX_DECIMALS } from '../request/record-filters.ts'
import { extractParties, extractRowFacts, type RowFacts } from '../shape/row-facts.ts'
import type { RowTest } from './searched.ts'

/** Whether a row may pass, judged without its texts. */
export function mayPass(test: RowTest, doc: ListedRecord): boolean {
  if (test.isFailed === true && !hasFailed({ receipt: { statusCode: doc.status_code } })) return false
  if (doc.amount === undefined && asksMovement(test)) return false
  return test.counterparty === undefined || hasCounterparty(test.sides, test.counterparty, doc)
}

/** Whether a test has filters that only rows of movements pass. */
const asksMovement = ({ direction, tokens, memo, memoPrefix }: RowTest): boolean =>
  (direction ?? tokens ?? memo ?? memoPrefix) !== undefined

/** Whether a test needs the texts of rows. */
export const asksTexts = (test: RowTest): boolean => (test.func ?? test.minAmount) !== undefined || asksMovement(test)

/** Whether a row for which `mayPass` holds passes. @param own its texts */
export function passes(test: RowTest, doc: ListedRecord, own: RowTexts): boolean {
  const { func, tokens, memo, memoPrefix, minAmount, direction } = test
  if (func !== undefined && !isMatchingCall(func, own)) return false
  const facts = extractRowFacts(doc, own)
  if (tokens !== undefined && !tokens.has(facts.token ?? '')) return false
  if (memo !== undefined && facts.memo !== memo) return false
  if (memoPrefix !== undefined && facts.memo?.startsWith(memoPrefix) !== true) return false
  if (minAmount !== undefined && !isAtLeast(facts, minAmount)) return false
  if (direction !== undefined) return doc.amount !== undefined && goes(test, direction, own)
  return tokens === undefined || concerns(test, doc, own)
}

const isMatchingCall = ({ contract, action }: NonNullable<RowTest['func']>, own: RowTexts): boolean =>
  own.contract === contract && (action === undefined || own.action_name === action)

const isAtLeast = ({ amount }: RowFacts, least: bigint): boolean =>
  amount !== undefined && (parseUnits(amount, MAX_DECIMALS) ?? -1n) >= least

/** Whether the counterparty is the other party of a row. */
function hasCounterparty(
  sides: ReadonlySet<string>,
  counterparty: string,
  { from, to }: Pick<ListedRecord, 'from' | 'to'>,
): boolean {
  if (from === counterparty) return sides.size === 0 || sides.has(to) || !sides.has(from)
  return to === counterparty && (sides.size === 0 || sides.has(from) || !sides.has(to))
}

/** Whether one of the sides is a party of a movement; a side may also have signed for others. */
function concerns({ sides }: RowTest, { amount }: ListedRecord, own: RowTexts): boolean {
  if (sides.size === 0) return true
  const { from, to } = extractParties(own)
  return amount !== undefined && (sides.has(from) || sides.has(to))
}

/** Whether a movement goes in the direction as seen from the sides. A movement to oneself has no direction. */
function goes({ sides, counterparty }: RowTest, direction: 'in' | 'out', texts: RowTexts): boolean {
  const { from, to } = extractParties(texts)
  if (from === to) return false
  const [own, other] = direction === 'in' ? [to, from] : [from, to]
  return (sides.size === 0 || sides.has(own)) && (counterparty === undefined || other === counterparty)
}
