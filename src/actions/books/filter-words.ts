import { fromUnits } from '#chain/amount.ts'
import { MOST_DECIMALS, type RecordFilters } from '../request/record-filters.ts'

/**
 * `filtered direction in`: the filters of a list as words of a file's name, since a file that has a part of an account's
 * movements must not pass for one that has all. Tokens are named by themselves, and memos can be any text: theirs is left out.
 */
export const filterWords = ({
  direction,
  counterparty,
  func_name,
  failed,
  memo,
  memo_prefix,
  min_amount,
}: RecordFilters): readonly string[] => {
  const words = [
    ...(direction === undefined ? [] : ['direction', direction]),
    ...(counterparty === undefined ? [] : ['counterparty', counterparty]),
    ...(func_name === undefined ? [] : ['func_name', `${func_name.contract}_${func_name.action}`]),
    ...(failed === 1 ? ['failed'] : []),
    ...(memo === undefined ? [] : ['memo']),
    ...(memo_prefix === undefined ? [] : ['memo_prefix']),
    ...(min_amount === undefined ? [] : ['min_amount', fromUnits(min_amount, MOST_DECIMALS)]),
  ]
  return words.length === 0 ? [] : ['filtered', ...words]
}
