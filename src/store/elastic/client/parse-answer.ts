import { Failure } from '#failure/failure.ts'
import type { Asked } from './failures.ts'

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
