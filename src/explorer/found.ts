import { Failure, type FailureKind } from '#failure/failure.ts'

const ABSENT: ReadonlySet<FailureKind> = new Set(['not_found', 'loading', 'bad_request'])
const UNKNOWN: ReadonlySet<FailureKind> = new Set(['loading', 'unavailable'])

/** The answer for a part of a page; undefined: the thing does not exist, or its name is invalid. */
export const ifFound = <T>(asked: Promise<T>): Promise<T | undefined> => unless(ABSENT, asked)

/** The answer for a part of a page; undefined: it is not known yet. */
export const ifKnown = <T>(asked: Promise<T>): Promise<T | undefined> => unless(UNKNOWN, asked)

const unless = async <T>(kinds: ReadonlySet<FailureKind>, asked: Promise<T>): Promise<T | undefined> => {
  try {
    return await asked
  } catch (error) {
    if (error instanceof Failure && kinds.has(error.kind)) return undefined
    throw error
  }
}
