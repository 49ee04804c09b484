import { fromUnits } from '#chain/amount.ts'
import { MAX_DECIMALS, type RecordFilters } from '../request/record-filters.ts'

/**
 * `filtered direction in`: the filters of a list as words of a file's name, so that a file with some of an
 * account's movements is not mistaken for one with all of them. Tokens are already in the name. The text of a
 * memo is left out, because it may contain anything.
 */
export function filterWords({
  direction,
  counterparty,
  func_name,
  failed,
  memo,
  memo_prefix,
  min_amount,
}: RecordFilters): readonly string[] {
  const words = [
    ...(direction === undefined ? [] : ['direction', direction]),
    ...(counterparty === undefined ? [] : ['counterparty', counterparty]),
    ...(func_name === undefined ? [] : ['func_name', `${func_name.contract}_${func_name.action}`]),
    ...(failed === 1 ? ['failed'] : []),
    ...(memo === undefined ? [] : ['memo']),
    ...(memo_prefix === undefined ? [] : ['memo_prefix']),
    ...(min_amount === undefined ? [] : ['min_amount', fromUnits(min_amount, MAX_DECIMALS)]),
  ]
  return words.length === 0 ? [] : ['filtered', ...words]
}
