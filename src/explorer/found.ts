import { unless } from '#failure/unless.ts'

/** The answer for a part of a page; undefined: the thing does not exist, or its name is invalid. */
export const ifFound = <T>(answer: Promise<T>): Promise<T | undefined> =>
  unless(['not_found', 'loading', 'bad_request'], answer)

/** The answer for a part of a page; undefined: it is not known yet. */
export const ifKnown = <T>(answer: Promise<T>): Promise<T | undefined> => unless(['loading', 'unavailable'], answer)
