import { Failure } from '#failure/failure.ts'
import type { Answer, Connection, Request } from './connection.ts'
import { errorOf, toFailure } from './failures.ts'

/** Waits before reads are sent again: a kept connection that the server just closed, a queue that was full. */
const AGAIN_AFTER_MS = [30, 200]

export type Question = Request & {
  /** What is asked for, after "may not" and "refused to": `read balances`. */
  readonly what: string
  /** Statuses that are answers too, such as 404 of a document. */
  readonly also?: readonly number[]
}

/** Sends something that is safe to repeat and gives the parsed answer; anything but success is a Failure. */
export const ask = async <T>(connection: Connection, question: Question): Promise<T> =>
  JSON.parse((await askText(connection, question)).text) as T

/** As `ask`, unparsed. */
export const askText = (connection: Connection, question: Question): Promise<Answer> =>
  trying(() => askOnce(connection, question))

/** As `askText`, sent once: for callers that look for errors inside the answer and try the whole again. */
export const askOnce = async (connection: Connection, question: Question): Promise<Answer> => {
  const answer = await connection.send(question)
  if (answer.status < 300 || question.also?.includes(answer.status)) return answer
  throw toFailure(connection, answer.status, errorOf(answer), question.what)
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
