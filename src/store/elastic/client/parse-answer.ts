import { Failure } from '#failure/failure.ts'
import type { Connection } from './connection.ts'

/**
 * The body of an answer as JSON. What is none came from something between here and the server, or from a server that is
 * ill: it is worth another try, and no mistake of ours.
 */
export const parseAnswer = <T>(
  connection: Pick<Connection, 'url'>,
  text: string,
  what: string,
  parse: (text: string) => unknown = JSON.parse,
): T => {
  try {
    return parse(text) as T
  } catch {
    throw malformed(connection, what, 'it is not JSON')
  }
}

/** What an answer must hold, when it does; throws 'unavailable' otherwise. */
export const expected = <T>(
  connection: Pick<Connection, 'url'>,
  what: string,
  value: T | undefined | null,
  holds: (value: T) => boolean = () => true,
): T => {
  if (value === undefined || value === null || !holds(value))
    throw malformed(connection, what, 'required fields are missing')
  return value
}

const malformed = ({ url }: Pick<Connection, 'url'>, what: string, problem: string): Failure =>
  new Failure('unavailable', `The response of Elasticsearch at ${url} is invalid (${what}): ${problem}.`, {
    help: 'Check whether there is a proxy in front of Elasticsearch, and check the logs of both.',
  })
