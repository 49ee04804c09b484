import type { CallParameters } from '#actions/ask.ts'
import type { Typed } from '#actions/define.ts'
import { parametersOf } from '#actions/request/query.ts'
import { shown } from '#actions/request/refusals.ts'
import { Failure } from '#failure/failure.ts'
import type { Visit } from './page.ts'

/** Parameters either of which names the thing of a page: a block has a number and a hash. */
const EITHER = ['number', 'hash']

type Refused = { readonly action: Typed; readonly given: CallParameters }

/**
 * The failure of a call, from a visitor's view. When the name in the page's address breaks the rule of the
 * API's parameter, no thing can have that name, so it is 'not_found'. A bad query parameter of the address
 * stays 'bad_request'.
 */
export const notFoundIfImpossible = (
  error: unknown,
  { action, given }: Refused,
  { id, part, query }: Pick<Visit, 'id' | 'part' | 'query'>,
): unknown => {
  if (!(error instanceof Failure) || error.kind !== 'bad_request') return error
  const name = String(error.details['parameter'])
  const names = EITHER.includes(name) ? EITHER : [name]
  const rules = parametersOf(action.params)
    .filter(each => names.includes(each.name))
    .map(({ word }) => word.rule)
  const value = [id, part].find(each => each === given[name])
  if (rules.length === 0 || value === undefined || query.get(name) === value) return error
  return new Failure(
    'not_found',
    `${shown(value)} cannot exist: it would have to be ${rules.map(({ en }) => en).join(' or ')}.`,
    {
      zh: `${shown(value)} 不可能存在：须为${rules.map(({ zh }) => zh).join('，或')}。`,
      cause: error,
    },
  )
}
