import { isPossibleId, type Source } from '../schema/documents.ts'
import type { Ref, SeqNo } from './bulk-item.ts'
import type { Connection } from './connection.ts'
import { type ElasticError, MISSING_INDEX, type RequestOrigin, toFailure } from './failures.ts'
import { type NamedRequest, parseAnswer, requestParsed, requireValid } from './request-json.ts'

export type Got = SeqNo & { readonly source: Source; readonly version: number }
type Doc = {
  readonly _id: string
  readonly _version?: number
  readonly _seq_no?: number
  readonly _primary_term?: number
  readonly found?: boolean
  readonly _source?: Source
  readonly error?: ElasticError
}

/** Documents per request: transactions of a few KB each make an answer of a few MB. */
export const AT_ONCE = 1000

type Reading = { readonly realtime: boolean; readonly signal?: AbortSignal | undefined }

/**
 * Documents by id, in the order of the ids; undefined for a missing one. With `realtime` false the read sees
 * the same as a search (as of the last refresh), with true the latest write. Ids come from data of signers,
 * and Elasticsearch refuses to look for an id that no document can have: such a document counts as missing.
 */
export const getMany = async (
  connection: Connection,
  refs: readonly Ref[],
  reading: Reading,
): Promise<readonly (Got | undefined)[]> => {
  const possible = refs.filter(({ id }) => isPossibleId(id))
  const found = await getPossible(connection, possible, reading)
  if (possible.length === refs.length) return found
  let next = 0
  return refs.map(({ id }) => (isPossibleId(id) ? found[next++] : undefined))
}

const getPossible = async (
  connection: Connection,
  refs: readonly Ref[],
  { realtime, signal }: Reading,
): Promise<readonly (Got | undefined)[]> => {
  const found: (Got | undefined)[] = []
  for (let from = 0; from < refs.length; from += AT_ONCE) {
    const part = refs.slice(from, from + AT_ONCE)
    const request: NamedRequest = {
      what: `read ${part[0]?.index}`,
      method: 'POST',
      path: '/_mget',
      query: { realtime: String(realtime) },
      body: JSON.stringify({ docs: part.map(({ index, id }) => ({ _index: index, _id: id })) }),
      signal,
    }
    found.push(
      ...(await requestParsed(connection, request, ({ text }) => gotIn({ connection, ...request }, part, text))),
    )
  }
  return found
}

const gotIn = (origin: RequestOrigin, refs: readonly Ref[], text: string): readonly (Got | undefined)[] => {
  const { docs } = parseAnswer<{ readonly docs?: readonly Doc[] }>(origin, text) ?? {}
  return requireValid(origin, docs, all => Array.isArray(all) && all.length === refs.length).map((doc, at) =>
    gotOf(
      origin,
      requireValid(origin, doc, ({ _id }) => _id === refs[at]?.id),
    ),
  )
}

const gotOf = ({ connection }: RequestOrigin, doc: Doc): Got | undefined => {
  if (doc.error !== undefined) {
    // An error inside an answer has no status: the index is missing or a shard is unreachable.
    const status = doc.error.type === MISSING_INDEX ? 404 : 503
    throw toFailure({ connection, what: `read '${doc._id}'` }, { status, error: doc.error })
  }
  if (doc.found !== true) return undefined
  return {
    source: doc._source ?? {},
    version: doc._version ?? 0,
    seqNo: doc._seq_no ?? 0,
    primaryTerm: doc._primary_term ?? 0,
  }
}
