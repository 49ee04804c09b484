import { type DocSource, isPossibleId } from '../schema/documents.ts'
import type { ElasticConnection, Ref, SeqNo } from './request.ts'
import {
  type ElasticError,
  MISSING_INDEX,
  type NamedRequest,
  parseAnswer,
  type RequestOrigin,
  requestParsed,
  requireValid,
  toElasticFailure,
} from './request.ts'

export type Got = SeqNo & { readonly source: DocSource; readonly version: number }
type AnsweredDoc = {
  readonly _id: string
  readonly _version?: number
  readonly _seq_no?: number
  readonly _primary_term?: number
  readonly found?: boolean
  readonly _source?: DocSource
  readonly error?: ElasticError
}

/** Documents per request: transactions of a few KB each make an answer of a few MB. */
export const DOCS_AT_ONCE = 1000

/**
 * Documents by id, in the order of the ids; undefined for a missing one. With `realtime` false the read sees
 * the same as a search (as of the last refresh), with true the latest write. Ids come from data of signers,
 * and Elasticsearch refuses to look for an id that no document can have: such a document counts as missing.
 */
export async function getMany(
  connection: ElasticConnection,
  refs: readonly Ref[],
  { realtime, signal }: { readonly realtime: boolean; readonly signal?: AbortSignal | undefined },
): Promise<readonly (Got | undefined)[]> {
  const possible = refs.filter(({ id }) => isPossibleId(id))
  const found: (Got | undefined)[] = []
  for (let from = 0; from < possible.length; from += DOCS_AT_ONCE) {
    const part = possible.slice(from, from + DOCS_AT_ONCE)
    const request: NamedRequest = {
      what: `read ${part[0]?.index}`,
      path: '/_mget',
      query: { realtime: String(realtime) },
      body: JSON.stringify({ docs: part.map(({ index, id }) => ({ _index: index, _id: id })) }),
      signal,
    }
    found.push(...(await requestParsed(connection, request, ({ text }, origin) => parseDocs(origin, part, text))))
  }
  if (possible.length === refs.length) return found
  let next = 0
  return refs.map(({ id }) => (isPossibleId(id) ? found[next++] : undefined))
}

function parseDocs(origin: RequestOrigin, refs: readonly Ref[], text: string): readonly (Got | undefined)[] {
  const { docs } = parseAnswer<{ readonly docs?: readonly AnsweredDoc[] }>(origin, text) ?? {}
  return requireValid(origin, docs, all => Array.isArray(all) && all.length === refs.length).map((each, at) => {
    const doc = requireValid(origin, each, ({ _id }) => _id === refs[at]?.id)
    if (doc.error !== undefined) {
      // An error inside an answer has no status: the index is missing or a shard is unreachable.
      const status = doc.error.type === MISSING_INDEX ? 404 : 503
      throw toElasticFailure({ ...origin, what: `read '${doc._id}'` }, { status, error: doc.error })
    }
    if (doc.found !== true) return undefined
    return {
      source: doc._source ?? {},
      version: doc._version ?? 0,
      seqNo: doc._seq_no ?? 0,
      primaryTerm: doc._primary_term ?? 0,
    }
  })
}
