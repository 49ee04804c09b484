import { Failure } from '#failure/failure.ts'
import type { Connection } from './connection.ts'
import { failureOf } from './failures.ts'
import { expected, parseAnswer } from './parse-answer.ts'
import type { Answer, Request } from './request.ts'

/** Pauses before a read is sent again: the server may just have closed a kept connection, or a queue was full. */
const AGAIN_AFTER_MS = [30, 200]

export type Question = Request & {
  /** Names the request in messages, after "may not" and "refused to": `read balances`. */
  readonly what: string
  /** Statuses that are answers and not failures, such as 404 for a document. */
  readonly also?: readonly number[]
}

/** Sends a request that is safe to repeat and returns the parsed answer; throws a Failure on anything but success. */
export const ask = <T>(connection: Connection, question: Question): Promise<T> =>
  trying(async () => {
    const asked = { connection, what: question.what }
    const { text } = await askOnce(connection, question)
    return expected(asked, parseAnswer<T>(asked, text), isObject)
  })

const isObject = (value: unknown): boolean => typeof value === 'object'

/** As `ask`, for a search: its hits, each with an id. */
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

/** Whether this is a list of hits. */
const areHits = (hits: readonly { readonly _id?: unknown }[]): boolean =>
  Array.isArray(hits) && hits.every(hit => typeof hit?._id === 'string')

/** As `ask`, with the text of the answer. */
export const askText = (connection: Connection, question: Question): Promise<Answer> =>
  trying(() => askOnce(connection, question))

/** As `askText`, sent once: for callers that look for errors inside the answer and repeat the whole read. */
export const askOnce = async (connection: Connection, question: Question): Promise<Answer> => {
  const answer = await connection.send(question)
  if (answer.status < 300 || question.also?.includes(answer.status)) return answer
  throw failureOf({ connection, what: question.what }, answer)
}

/** Repeats a read that failed for a passing reason. */
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
