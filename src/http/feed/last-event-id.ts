import { type LastRow, readLastRow } from '#actions/feed/last-row.ts'
import { type LastId, readId } from '#actions/feed/trail.ts'
import { findSingleValue, type Query } from '#actions/request/query.ts'
import { badRequest, shown } from '#actions/request/refusals.ts'
import type { Exchange } from '../exchange.ts'

/**
 * Names of the header in a query. `event-source-polyfill` adds the first by itself, and a browser's `EventSource` has
 * no other way to begin after an event.
 */
const NAMES: readonly string[] = ['lastEventId', 'Last-Event-ID']

type Asked = Pick<Exchange, 'query'> & { readonly request: Request }

/**
 * The last id that a client sends, not yet parsed; `""`: none. The header is later than the query: a browser repeats
 * the query of the first connection. Throws 'bad_request' for a name given twice.
 */
function findLastId({ query, request }: Asked): string {
  const header = request.headers.get('last-event-id') ?? ''
  const [given = ''] = NAMES.map(name => findSingleValue(query, name)).filter(
    value => value !== undefined && value !== '',
  )
  return header === '' ? given : header
}

/** Whether a client reconnects: it sends the id of an event. */
export const isReconnection = ({ query, request }: Asked): boolean =>
  (request.headers.get('last-event-id') ?? '') !== '' ||
  query.some(([name, value]) => NAMES.includes(name) && value !== '')

/** The parameters without those that repeat the header. */
export const omitLastId = (query: Query): Query => query.filter(([name]) => !NAMES.includes(name))

/** The id of the last event that a reconnecting client received. Throws 'bad_request'. */
export function readLastId(asked: Asked): LastId | LastRow | undefined {
  const text = findLastId(asked)
  if (text === '') return undefined
  const id = readId(text) ?? readLastRow(text)
  if (id !== undefined) return id
  throw badRequest(
    {
      en: `Last-Event-ID is ${shown(text)}; it must be the id of an event: a whole number of at most 15 digits, or the whole id as the feed gave it.`,
      zh: `Last-Event-ID 的值为 ${shown(text)}；应为事件的 id：不超过 15 位的非负整数，或事件流给出的完整 id。`,
    },
    { parameter: 'Last-Event-ID' },
  )
}
