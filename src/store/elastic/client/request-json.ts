import { parseJson } from '#chain/json.ts'
import { Failure, messageOf } from '#failure/failure.ts'
import type { Connection } from './connection.ts'
import { failureOf, type RequestOrigin } from './failures.ts'
import type { ElasticResponse, Request } from './request.ts'

/** Pauses before a read is retried: the server may just have closed a kept connection, or a queue was full. */
const AGAIN_AFTER_MS = [30, 200]

export type NamedRequest = Request & {
  /** Name of the request in messages, after "may not" and "refused to": `read balances`. */
  readonly what: string
  /** Error statuses that count as answers, such as 404 for a document. */
  readonly acceptedStatuses?: readonly number[]
}

/**
 * A search of indices, given by comma-separated names. `more` may contain a signal, a time limit and further
 * parameters. A search with a failed shard counts as a failure.
 */
export const searchOf = (
  indices: string,
  body: object,
  { query, ...more }: Pick<NamedRequest, 'query' | 'signal' | 'timeoutMs'> = {},
): NamedRequest => ({
  ...more,
  what: `search ${indices}`,
  method: 'POST',
  path: `/${indices}/_search`,
  query: { ...WHOLE, ...query },
  body: JSON.stringify({ track_total_hits: false, ...body }),
})

/** Query parameters that `searchOf` adds to every search. */
export const WHOLE = { allow_partial_search_results: 'false' }

/** Sends a request that is safe to repeat and returns the parsed answer; throws a Failure on anything but success. */
export const requestJson = <T>(connection: Connection, request: NamedRequest): Promise<T> => {
  const origin = { connection, what: request.what }
  return requestParsed(connection, request, ({ text }) =>
    requireValid(origin, parseAnswer<T>(origin, text), value => typeof value === 'object'),
  )
}

/** Like `requestJson`, for a search: its hits, each with an id. */
export const requestHits = <H extends { readonly _id: string }>(
  connection: Connection,
  request: NamedRequest,
): Promise<readonly H[]> =>
  requestParsed(connection, request, ({ text }) => hitsIn<H>({ connection, what: request.what }, text))

/** Like `requestJson`, with the unparsed answer. */
export const requestText = (connection: Connection, request: NamedRequest): Promise<ElasticResponse> =>
  requestParsed(connection, request, answer => answer)

/** Like `requestJson`, with the result of `read`, whose errors may also lead to a retry. */
export const requestParsed = async <T>(
  connection: Connection,
  request: NamedRequest,
  read: (answer: ElasticResponse) => T,
): Promise<T> => {
  for (let attempt = 0; ; attempt++)
    try {
      return read(answerTo(connection, request, await connection.send(request)))
    } catch (error) {
      await pauseBeforeRetry(error, attempt)
    }
}

/** The hits of a search in the text of its answer. Throws 'unavailable'. */
export const hitsIn = <H extends { readonly _id: string }>(origin: RequestOrigin, text: string): readonly H[] => {
  const answer = parseAnswer<{ readonly hits?: { readonly hits?: readonly H[] } }>(origin, text)
  return requireValid(origin, answer?.hits?.hits, areHits)
}

/** Like `requestText` without retries: for callers that look for errors in the answer and repeat the whole read. */
export const requestOnce = async (connection: Connection, request: NamedRequest): Promise<ElasticResponse> =>
  answerTo(connection, request, await connection.send(request))

/** The answer, if its status is a success or expected. */
const answerTo = (
  connection: Connection,
  { what, acceptedStatuses }: NamedRequest,
  answer: ElasticResponse,
): ElasticResponse => {
  if (answer.status < 300 || acceptedStatuses?.includes(answer.status)) return answer
  throw failureOf({ connection, what }, answer)
}

/** Pauses before a failed read is retried; rethrows the error unless it is temporary. */
export const pauseBeforeRetry = async (error: unknown, attempt: number): Promise<void> => {
  const again = AGAIN_AFTER_MS[attempt]
  const isPassing = error instanceof Failure && error.kind === 'unavailable' && error.retryable
  if (again === undefined || !isPassing) throw error
  await Bun.sleep(again)
}

/** Whether this is a list of hits. */
const areHits = (hits: readonly { readonly _id?: unknown }[]): boolean =>
  Array.isArray(hits) && hits.every(hit => typeof hit?._id === 'string')

/**
 * The body of an answer as JSON. Text that is not JSON comes from a proxy or a damaged server: a retryable
 * failure, not our bug.
 */
export const parseAnswer = <T>(
  origin: RequestOrigin,
  text: string,
  parse: (text: string) => unknown = text => parseJson(text),
): T => {
  try {
    return parse(text) as T
  } catch (error) {
    throw malformed(origin, `it is not JSON: ${messageOf(error)}`)
  }
}

/** The value if it is valid; throws 'unavailable' otherwise. */
export const requireValid = <T>(
  origin: RequestOrigin,
  value: T | undefined | null,
  holds: (value: T) => boolean = () => true,
): T => {
  if (value === undefined || value === null || !holds(value)) throw malformed(origin, 'required fields are missing')
  return value
}

const malformed = ({ connection: { url }, what }: RequestOrigin, problem: string): Failure =>
  new Failure('unavailable', `The response of Elasticsearch at ${url} is invalid (${what}): ${problem}.`, {
    help: 'Check whether there is a proxy in front of Elasticsearch, and check the logs of both.',
  })
