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
    throw malformed(connection, what, 'it lacks what belongs in it')
  return value
}

const malformed = ({ url }: Pick<Connection, 'url'>, what: string, problem: string): Failure =>
  new Failure(
    'unavailable',
    `The answer of Elasticsearch at ${url} can not be understood (${what}): ${problem}.`,
    {
      help: 'See whether a proxy stands before Elasticsearch, and the log of both.',
    },
  )
