import { Failure } from '#failure/failure.ts'
import type { Answer, Connection, Request } from './connection.ts'
import { failureOf } from './failures.ts'
import { expected, parseAnswer } from './parse-answer.ts'

/** Waits before reads are sent again: a kept connection that the server just closed, a queue that was full. */
const AGAIN_AFTER_MS = [30, 200]

export type Question = Request & {
  /** What is asked for, after "may not" and "refused to": `read balances`. */
  readonly what: string
  /** Statuses that are answers too, such as 404 of a document. */
  readonly also?: readonly number[]
}

/** Sends something that is safe to repeat and gives the parsed answer; anything but success is a Failure. */
export const ask = <T>(connection: Connection, question: Question): Promise<T> =>
  trying(async () => {
    const asked = { connection, what: question.what }
    const { text } = await askOnce(connection, question)
    return expected(asked, parseAnswer<T>(asked, text), isObject)
  })

const isObject = (value: unknown): boolean => typeof value === 'object'

/** Hits of a search; each has an id at least. */
export const askHits = <H extends { readonly _id: string }>(
  connection: Connection,
  question: Question,
): Promise<readonly H[]> =>
  trying(async () => {
    const asked = { connection, what: question.what }
    const { text } = await askOnce(connection, question)
    const answer = parseAnswer<{ readonly hits?: { readonly hits?: readonly H[] } }>(asked, text)
    return expected(asked, answer?.hits?.hits, areHits)
  })

/** Whether it is a list of hits. */
const areHits = (hits: readonly { readonly _id?: unknown }[]): boolean =>
  Array.isArray(hits) && hits.every(hit => typeof hit?._id === 'string')

/** As `ask`, unparsed. */
export const askText = (connection: Connection, question: Question): Promise<Answer> =>
  trying(() => askOnce(connection, question))

/** As `askText`, sent once: for callers that look for errors inside the answer and try the whole again. */
export const askOnce = async (connection: Connection, question: Question): Promise<Answer> => {
  const answer = await connection.send(question)
  if (answer.status < 300 || question.also?.includes(answer.status)) return answer
  throw failureOf({ connection, what: question.what }, answer)
}

/** Does a read again that failed for a reason that may pass. */
export const trying = async <T>(read: () => Promise<T>): Promise<T> => {
  for (let attempt = 0; ; attempt++) {
    try {
      return await read()
    } catch (error) {
      const again = AGAIN_AFTER_MS[attempt]
      const passing = error instanceof Failure && error.kind === 'unavailable' && error.retryable
      if (again === undefined || !passing) throw error
      await Bun.sleep(again)
    }
  }
}
