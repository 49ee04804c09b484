import type { View } from '#store/port.ts'
import type { Context } from '../define.ts'
import type { Merged } from '../list/merge.ts'
import type { Plan } from '../list/record-plan.ts'
import { type SearchRange, searchOf } from '../list/search.ts'
import type { Searched } from '../list/searched.ts'
import { foundRows } from './rows.ts'

/**
 * The rows within a range that a plan finds, by that of its ways that has the fewest rows to look at. Throws as `searchOf`
 * does.
 */
export const foundRecords = async (
  context: Context,
  plan: Plan,
  { contract, ...asked }: SearchRange & { readonly contract: 'always' | 'compat' },
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

/** The list that a plan needs alone; undefined: rows are to be searched. */
export const onlyList = ([{ keys, test, owners }, ...others]: Plan): string | undefined =>
  test === undefined && owners === undefined && keys.length === 1 && others.length === 0 ? keys[0] : undefined
