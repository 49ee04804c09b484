import { Failure } from '#failure/failure.ts'

/** How a call is refused, in both languages; throws when it is not. */
export const refusal = async (asked: Promise<unknown>) => {
  try {
    await asked
  } catch (error) {
    if (error instanceof Failure) return { kind: error.kind, en: error.message, zh: error.zh }
    throw error
  }
  throw new Error('The call was answered.')
}
