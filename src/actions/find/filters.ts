import type { Context } from '../define.ts'
import type { RecordFilters } from '../request/record-filters.ts'
import { requireContract, requireTokens } from './listed.ts'
import { resolveOwner } from './owner.ts'

/** Filters with names in their form on the chain. Throws 'not_found' or 'loading' if one does not exist. */
export async function foundFilters(context: Context, filters: RecordFilters): Promise<RecordFilters> {
  const { token, func_name, counterparty } = filters
  if (token !== undefined) await requireTokens(context, token)
  if (func_name !== undefined) await requireContract(context, func_name.contract)
  return counterparty === undefined ? filters : { ...filters, counterparty: await resolveOwner(context, counterparty) }
}
