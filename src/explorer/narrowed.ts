import type { Visit } from './page.ts'

/** The paging parameters of a list. */
export const PAGING = ['page', 'after'] as const

/**
 * Whether an address selects a part of its page, or another list on it: one of the page's parameters has a
 * value. Unknown parameters do not count, such as the tracking parameters of other sites, nor do empty form
 * fields or the first page of a list.
 */
export const isNarrowed = ({ query }: Pick<Visit, 'query'>, names: readonly string[]): boolean =>
  names.some(name => {
    const value = query.get(name) ?? ''
    return value !== '' && !(name === 'page' && value === '1')
  })
