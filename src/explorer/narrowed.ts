import type { Visit } from './page.ts'

/** The parameters that lead to another page of a list. */
export const PAGING = ['page', 'after'] as const

/**
 * Whether an address asks for a part of its page, or for another list on it: one of the parameters that the page knows has a
 * value. Others change nothing, such as those by which sites mark links that lead here; nor does an empty field of a form,
 * or the first page of a list.
 */
export const isNarrowed = ({ query }: Pick<Visit, 'query'>, names: readonly string[]): boolean =>
  names.some(name => {
    const value = query.get(name) ?? ''
    return value !== '' && !(name === 'page' && value === '1')
  })
