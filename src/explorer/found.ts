import { Failure, type FailureKind } from '#failure/failure.ts'

const ABSENT: ReadonlySet<FailureKind> = new Set(['not_found', 'loading', 'bad_request'])

/** What a part of a page asks for; undefined: there is no such thing, or its name cannot be one. */
export const ifFound = async <T>(asked: Promise<T>): Promise<T | undefined> => {
  try {
    return await asked
  } catch (error) {
    if (error instanceof Failure && ABSENT.has(error.kind)) return undefined
    throw error
  }
}
