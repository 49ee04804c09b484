import type { Source } from '../schema/documents.ts'
import { askOnce, trying } from './ask.ts'
import type { Ref, SeqNo } from './bulk-item.ts'
import type { Connection } from './connection.ts'
import { type ElasticError, MISSING_INDEX, toFailure } from './failures.ts'
import { expected, parseAnswer } from './parse-answer.ts'

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

/** Documents per request; transactions of a few KB each make an answer of a few MB. */
const AT_ONCE = 1000

/**
 * Documents by id, in that order; undefined for a missing one. With `realtime` false it sees what search sees (as of
 * the last refresh), with true the latest write.
 */
export const getMany = async (
  connection: Connection,
  refs: readonly Ref[],
  how: How,
): Promise<readonly (Got | undefined)[]> => {
  const found: (Got | undefined)[] = []
  for (let from = 0; from < refs.length; from += AT_ONCE) {
    const part = refs.slice(from, from + AT_ONCE)
    found.push(...(await trying(() => getPart(connection, part, how))))
  }
  return found
}

type How = { readonly realtime: boolean; readonly signal?: AbortSignal | undefined }

const getPart = async (
  connection: Connection,
  refs: readonly Ref[],
  { realtime, signal }: How,
): Promise<readonly (Got | undefined)[]> => {
  const what = `read ${refs[0]?.index}`
  const answer = await askOnce(connection, {
    what,
    method: 'POST',
    path: '/_mget',
    query: { realtime: String(realtime) },
    body: JSON.stringify({ docs: refs.map(({ index, id }) => ({ _index: index, _id: id })) }),
    signal,
  })
  const { docs } = parseAnswer<{ readonly docs?: readonly Doc[] }>({ connection, what }, answer.text) ?? {}
  return expected({ connection, what }, docs, all => Array.isArray(all) && all.length === refs.length).map(
    (doc, at) =>
      gotOf(
        connection,
        expected({ connection, what }, doc, ({ _id }) => _id === refs[at]?.id),
      ),
  )
}

const gotOf = (connection: Connection, doc: Doc): Got | undefined => {
  if (doc.error !== undefined) {
    // An error inside an answer has no status: it is either a missing index or a shard that is out of reach.
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
