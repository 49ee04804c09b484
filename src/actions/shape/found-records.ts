import type { View } from '#store/port.ts'
import type { Context } from '../define.ts'
import type { Merged } from '../list/merge.ts'
import type { RangeInOrder } from '../list/numbered.ts'
import type { RecordPlan } from '../list/record-plan.ts'
import { openSearch } from '../list/search.ts'
import type { SearchListing } from '../list/searched.ts'
import { foundRows, listedRecords, type RecordForm } from './rows.ts'

/** The rows of a plan within a range, found in the way with the fewest rows to search. Throws like `openSearch`. */
async function foundRecords(
  context: Context,
  plan: RecordPlan,
  { contract, isBook, ...asked }: RangeInOrder & RecordForm,
): Promise<SearchListing> {
  const tried = await Promise.all(plan.map(async path => ({ way: path, ...(await openSearch(context, path, asked)) })))
  const { way: path, search, size, counts } = tried.reduce((best, other) => (other.size < best.size ? other : best))
  const { owners, test } = path
  const { compat } = context
  return {
    search,
    // Rows of several tokens are in one list each; rows of several accounts may be in two.
    total: test === undefined && owners === undefined ? size : undefined,
    rowsOf: (view: View, found: readonly Merged[]) => foundRows(view, found, { contract, isBook, compat, owners }),
    fields: [...(compat === 'iostabc' ? [] : ['id']), ...(owners === undefined ? [] : ['accounts'])],
    later: path,
    counts,
  }
}

/**
 * The rows of a plan: from a single list if that suffices, otherwise by a search. Throws like `listRecords` and
 * `openSearch`.
 */
export async function plannedRecords(
  context: Context,
  plan: RecordPlan,
  { contract, isBook, ...asked }: RangeInOrder & RecordForm,
) {
  const list = onlyList(plan)
  return list === undefined
    ? foundRecords(context, plan, { ...asked, contract, isBook })
    : listedRecords(context, list, { ...asked, contract, isBook })
}

/** Whether a plan needs a search. This depends only on the parameters of a call. */
export const isSearched = (plan: RecordPlan): boolean => onlyList(plan) === undefined

/** The list that alone answers a plan; undefined: a search is needed. */
const onlyList = ([{ keys, test, owners }, ...others]: RecordPlan): string | undefined =>
  test === undefined && owners === undefined && keys.length === 1 && others.length === 0 ? keys[0] : undefined
