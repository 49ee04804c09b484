import { Failure } from '#failure/failure.ts'

/** The failure with which work ends. Throws when it succeeds, or ends with another error. */
export async function failureOf(work: Promise<unknown>): Promise<Failure> {
  try {
    await work
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
  throw new Error('The work succeeded.')
}

/** The kind of the failure with which work ends. */
export const kindOf = async (work: Promise<unknown>): Promise<string> => (await failureOf(work)).kind

/** The refusal of a call in both languages. Throws when the call succeeds. */
export async function refusal(asked: Promise<unknown>) {
  const { kind, message, zh } = await failureOf(asked)
  return { kind, en: message, zh }
}
