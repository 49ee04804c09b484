import { Failure, type FailureKind } from './failure.ts'

/** The result of some work; undefined when it fails in one of these ways. Any other failure is thrown. */
export async function unless<T>(kinds: readonly FailureKind[], work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Failure && kinds.includes(error.kind)) return undefined
    throw error
  }
}
