import type { View } from '#store/port.ts'
import type { Context } from '../define.ts'
import type { Merged } from '../list/merge.ts'
import type { RangeInOrder } from '../list/numbered.ts'
import type { Plan } from '../list/record-plan.ts'
import { searchOf } from '../list/search.ts'
import type { Searched } from '../list/searched.ts'
import { foundRows, listedRecords } from './rows.ts'

/**
 * The rows within a range that a plan finds, by that of its ways that has the fewest rows to look at. Throws as `searchOf`
 * does.
 */
const foundRecords = async (
  context: Context,
  plan: Plan,
  { contract, ...asked }: RangeInOrder & { readonly contract: 'always' | 'compat' },
): Promise<Searched> => {
  const tried = await Promise.all(plan.map(async way => ({ way, ...(await searchOf(context, way, asked)) })))
  const { way, search, size, counts } = tried.reduce((best, other) => (other.size < best.size ? other : best))
  const { owners, test } = way
  const { compat } = context
  return {
    search,
    // Rows of several tokens are in one list each, those of several accounts may be in two.
    total: test === undefined && owners === undefined ? size : undefined,
    rowsOf: (view: View, found: readonly Merged[]) => foundRows(view, found, { contract, compat, owners }),
    fields: [...(compat === 'iostabc' ? [] : ['id']), ...(owners === undefined ? [] : ['accounts'])],
    later: way,
    counts,
  }
}

/**
 * The rows that a plan finds: those of the list that it needs alone, else those that are searched for. Throws as
 * `recordsOf` and `searchOf` do.
 */
export const plannedRecords = async (
  context: Context,
  plan: Plan,
  { contract, ...asked }: RangeInOrder & { readonly contract: 'always' | 'compat' },
) => {
  const list = onlyList(plan)
  return list === undefined
    ? foundRecords(context, plan, { ...asked, contract })
    : listedRecords(context, list, { ...asked, contract })
}

/** Whether the rows that a plan finds are searched for; it depends on the parameters of a call alone. */
export const isSearched = (plan: Plan): boolean => onlyList(plan) === undefined

/** The list that a plan needs alone; undefined: rows are to be searched. */
const onlyList = ([{ keys, test, owners }, ...others]: Plan): string | undefined =>
  test === undefined && owners === undefined && keys.length === 1 && others.length === 0 ? keys[0] : undefined
