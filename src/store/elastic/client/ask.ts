import { Failure } from '#failure/failure.ts'
import type { Connection } from './connection.ts'
import { type Asked, failureOf } from './failures.ts'
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
export const ask = async <T>(connection: Connection, question: Question): Promise<T> => {
  for (let attempt = 0; ; attempt++)
    try {
      const asked = { connection, what: question.what }
      const { text } = answerTo(asked, question, await connection.send(question))
      return expected(asked, parseAnswer<T>(asked, text), isObject)
    } catch (error) {
      await beforeAgain(error, attempt)
    }
}

/** As `ask`, for a search: its hits, each with an id. */
export const askHits = <H extends { readonly _id: string }>(
  connection: Connection,
  question: Question,
): Promise<readonly H[]> =>
  askRead(connection, question, text => hitsIn<H>({ connection, what: question.what }, text))

/** As `ask`, with what `read` makes of the text of the answer. */
export const askRead = async <T>(
  connection: Connection,
  question: Question,
  read: (text: string) => T,
): Promise<T> => {
  for (let attempt = 0; ; attempt++)
    try {
      const answer = await connection.send(question)
      return read(answerTo({ connection, what: question.what }, question, answer).text)
    } catch (error) {
      await beforeAgain(error, attempt)
    }
}

/** The hits of a search in the text of its answer. Throws 'unavailable'. */
export const hitsIn = <H extends { readonly _id: string }>(asked: Asked, text: string): readonly H[] => {
  const answer = parseAnswer<{ readonly hits?: { readonly hits?: readonly H[] } }>(asked, text)
  return expected(asked, answer?.hits?.hits, areHits)
}

/** As `ask`, with the text of the answer. */
export const askText = async (connection: Connection, question: Question): Promise<Answer> => {
  for (let attempt = 0; ; attempt++)
    try {
      const asked = { connection, what: question.what }
      return answerTo(asked, question, await connection.send(question))
    } catch (error) {
      await beforeAgain(error, attempt)
    }
}

/** As `askText`, sent once: for callers that look for errors inside the answer and repeat the whole read. */
export const askOnce = async (connection: Connection, question: Question): Promise<Answer> =>
  answerTo({ connection, what: question.what }, question, await connection.send(question))

/** The answer, if it is a success or one of those that are expected. */
const answerTo = (asked: Asked, { also }: Question, answer: Answer): Answer => {
  if (answer.status < 300 || also?.includes(answer.status)) return answer
  throw failureOf(asked, answer)
}

/** Pauses before a read that failed for a passing reason is repeated; throws the error where it is not. */
export const beforeAgain = async (error: unknown, attempt: number): Promise<void> => {
  const again = AGAIN_AFTER_MS[attempt]
  const isPassing = error instanceof Failure && error.kind === 'unavailable' && error.retryable
  if (again === undefined || !isPassing) throw error
  await Bun.sleep(again)
}

const isObject = (value: unknown): boolean => typeof value === 'object'

/** Whether this is a list of hits. */
const areHits = (hits: readonly { readonly _id?: unknown }[]): boolean =>
  Array.isArray(hits) && hits.every(hit => typeof hit?._id === 'string')

/**
 * The body of an answer as JSON. Other text comes from a proxy or from a damaged server: a retryable failure, not our
 * bug.
 */
export const parseAnswer = <T>(
  asked: Asked,
  text: string,
  parse: (text: string) => unknown = JSON.parse,
): T => {
  try {
    return parse(text) as T
  } catch {
    throw malformed(asked, 'it is not JSON')
  }
}

/** The value if it is as expected; throws 'unavailable' otherwise. */
export const expected = <T>(
  asked: Asked,
  value: T | undefined | null,
  holds: (value: T) => boolean = () => true,
): T => {
  if (value === undefined || value === null || !holds(value))
    throw malformed(asked, 'required fields are missing')
  return value
}

const malformed = ({ connection: { url }, what }: Asked, problem: string): Failure =>
  new Failure('unavailable', `The response of Elasticsearch at ${url} is invalid (${what}): ${problem}.`, {
    help: 'Check whether there is a proxy in front of Elasticsearch, and check the logs of both.',
  })
