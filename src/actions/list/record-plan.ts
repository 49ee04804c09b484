import { listOf } from '#indices/list.ts'
import type { View } from '#store/port.ts'
import type { Context } from '../define.ts'
import type { Merged } from '../find/merge.ts'
import { listRecords, type RangeInOrder } from '../find/numbered.ts'
import { hasFilters, type RecordFilters } from '../request/record-filters.ts'
import { type RecordForm, shownRecords, writeFoundRecords } from '../shape/records.ts'
import { openSearch } from './search.ts'
import type { RowTest, SearchListing } from './searched.ts'

/**
 * Lists that together contain all requested rows, and a test that excludes their other rows; without a test
 * there are none.
 */
type AccessPath = {
  readonly keys: readonly string[]
  readonly test: RowTest | undefined
  /** The owner of each list, if rows include it. */
  readonly owners?: readonly string[]
}

/** Alternative ways to find the rows that pass some filters; each of them is complete. */
type RecordPlan = readonly [AccessPath, ...(readonly AccessPath[])]

/** The test for the filters that the choice of lists leaves; undefined: there are none. */
function buildRowTest(sides: readonly string[], filters: RecordFilters): RowTest | undefined {
  if (!hasFilters(filters)) return undefined
  const { direction, counterparty, token, func_name, failed, memo, memo_prefix, min_amount } = filters
  return {
    sides: new Set(sides),
    direction,
    counterparty,
    func: func_name,
    memo,
    memoPrefix: memo_prefix,
    minAmount: min_amount,
    tokens: token && new Set(token),
    isFailed: failed === 1,
  }
}

/** The rows of accounts. `isEach`: every row includes the accounts that it belongs to. */
export function accountPlan(names: readonly string[], filters: RecordFilters, isEach: boolean): RecordPlan {
  const { own, rest } = selectOwnLists(filters)
  const lists = names.map(name => own(name))
  const path: AccessPath = {
    keys: lists.flat(),
    test: buildRowTest(names, rest),
    ...(isEach ? { owners: lists.flatMap((keys, at) => keys.map(() => names[at] ?? '')) } : {}),
  }
  const other = isEach ? undefined : selectCounterpartyLists(filters)
  return other === undefined ? [path] : [path, { keys: other, test: buildRowTest(names, filters) }]
}

type OwnLists = {
  readonly own: (name: string) => readonly string[]
  /** The filters that still need a test. */
  readonly rest: RecordFilters
}

/** The most selective lists of an account for some filters. */
function selectOwnLists(filters: RecordFilters): OwnLists {
  const { func_name, failed, direction, token } = filters
  if (func_name !== undefined)
    return {
      own: name => [listOf.called(name, `${func_name.contract}/${func_name.action}`)],
      rest: { ...filters, func_name: undefined },
    }
  if (failed === 1) return { own: name => [listOf.failed(name)], rest: { ...filters, failed: 0 } }
  if (direction === 'in')
    return {
      own: name => token?.map(symbol => listOf.receivedOf(name, symbol)) ?? [listOf.received(name)],
      rest: { ...filters, direction: undefined, token: undefined },
    }
  if (token !== undefined)
    return {
      own: name => token.map(symbol => listOf.moved(name, symbol)),
      rest: { ...filters, token: undefined },
    }
  return { own: name => [listOf.account(name)], rest: filters }
}

/**
 * Lists of the counterparty that contain all movements between the two. undefined: there are none, because
 * the filters may also match other rows.
 */
function selectCounterpartyLists({ counterparty, direction, func_name, token }: RecordFilters) {
  if (counterparty === undefined || direction === undefined || func_name !== undefined) return undefined
  if (direction === 'out')
    return token?.map(symbol => listOf.receivedOf(counterparty, symbol)) ?? [listOf.received(counterparty)]
  return token?.map(symbol => listOf.moved(counterparty, symbol)) ?? [listOf.account(counterparty)]
}

/** Key of the list of a contract, or of one of its actions. */
export const contractList = (id: string, action: string | undefined): string =>
  action === undefined ? listOf.contract(id) : listOf.action(id, action)

/** The rows of a contract, or of one of its actions. */
export function contractPlan(id: string, action: string | undefined, filters: RecordFilters): RecordPlan {
  const { counterparty, token } = filters
  const func = { contract: id, action }
  if (token !== undefined) {
    // Only token.iost moves tokens.
    const test = buildRowTest([], { ...filters, token: undefined })
    const keys = token.map(symbol => listOf.token(symbol))
    return [{ keys, test: action === undefined ? test : { sides: new Set(), ...test, func } }]
  }
  const test = buildRowTest([], filters)
  const own: AccessPath = { keys: [contractList(id, action)], test }
  // A row may name a user's contract before that is deployed; such rows are in no list of the contract.
  if (counterparty === undefined || test === undefined || !id.endsWith('.iost')) return [own]
  return [own, { keys: [listOf.account(counterparty)], test: { ...test, func } }]
}

export function tokenPlan(symbol: string, filters: RecordFilters): RecordPlan {
  const test = buildRowTest([], filters)
  const own: AccessPath = { keys: [listOf.token(symbol)], test }
  const { counterparty } = filters
  if (counterparty === undefined) return [own]
  return [own, { keys: [listOf.moved(counterparty, symbol)], test }]
}

/** The rows of a plan within a range, found in the way with the fewest rows to search. Throws like `openSearch`. */
async function openRecordSearch(
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
    rowsOf: (view: View, found: readonly Merged[]) =>
      writeFoundRecords(view, found, { contract, isBook, compat, owners }),
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
  const list = findOnlyList(plan)
  if (list === undefined) return openRecordSearch(context, plan, { ...asked, contract, isBook })
  const { compat, head } = context
  return { ...(await listRecords(context, list, asked)), ...shownRecords({ contract, isBook, compat, head }) }
}

/** Whether a plan needs a search. This depends only on the parameters of a call. */
export const isSearched = (plan: RecordPlan): boolean => findOnlyList(plan) === undefined

/** The list that alone answers a plan; undefined: a search is needed. */
const findOnlyList = ([{ keys, test, owners }, ...others]: RecordPlan): string | undefined =>
  test === undefined && owners === undefined && keys.length === 1 && others.length === 0 ? keys[0] : undefined
