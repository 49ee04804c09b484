import { Failure } from '#failure/failure.ts'

/** The refusal of a call in both languages. Throws when the call succeeds. */
export async function refusal(asked: Promise<unknown>) {
  try {
    await asked
  } catch (error) {
    if (error instanceof Failure) return { kind: error.kind, en: error.message, zh: error.zh }
    throw error
  }
  throw new Error('The call was answered.')
}
