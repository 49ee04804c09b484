import { Failure } from '#failure/failure.ts'
import type { DocOf } from '#indices/define.ts'
import type { NamedIndex } from '#indices/registry.ts'
import { requestJson, requireValid } from '../client/request-json.ts'
import { stampOf } from '../schema/checkpoint-record.ts'
import { MAX_ID_BYTES } from '../schema/documents.ts'
import { AT } from '../schema/mappings.ts'
import { fromStateId, NAMED, toStateId } from '../schema/state-ids.ts'
import { NewerData } from './consistent-read.ts'
import { searchOneCopy } from './one-copy.ts'
import { OutOfDateCopy } from './out-of-date.ts'
import type { Reader } from './proved-docs.ts'

type Reading<I extends NamedIndex> = {
  readonly reader: Reader
  readonly getMany: (ids: readonly string[]) => Promise<readonly (DocOf<I> | undefined)[]>
}
type Terms = {
  readonly terms?: readonly string[]
  readonly complete?: boolean
  readonly _shards?: { readonly failed?: number }
}

/** Time limit of the server's search for terms; a list of terms takes it some milliseconds. */
const TIMEOUT = '10s'

/** Names per further request, when documents of some of the first names no longer exist. */
const MORE = 1_000

/**
 * Documents whose names begin with a text, by name. The names come from the sorted list of terms itself, because a
 * search would visit all matches. Terms of removed or changed documents stay in the list for a while, so the documents
 * decide. Throws `NewerData` when data newer than the view could be seen, because a name may have disappeared with it.
 * Throws `OutOfDateCopy` when the list lacks a name, because it may be from any copy.
 */
export const docsStartingWith = async <I extends NamedIndex>(
  { reader, getMany }: Reading<I>,
  index: I,
  { text, limit }: { readonly text: string; readonly limit: number },
): Promise<readonly DocOf<I>[]> => {
  // Names are ids; Elasticsearch may refuse a query for a longer text.
  if (Buffer.byteLength(toStateId(index, text)) > MAX_ID_BYTES) return []
  const field: string = index.named
  const found: DocOf<I>[] = []
  for (let after: string | undefined; ; ) {
    const size = after === undefined ? limit : Math.max(limit, MORE)
    const names = await termsOf(reader, index, { text, size, after })
    const docs = await getMany(names)
    found.push(
      ...docs.filter(doc => doc !== undefined && Reflect.get(doc, field) === doc.id).map(doc => doc as DocOf<I>),
    )
    after = names.at(-1)
    if (names.length < size || found.length >= limit) break
  }
  const until = found.length < limit ? undefined : found.at(-1)?.id
  await requireAll(reader, index, { text, until, found })
  return found.slice(0, limit)
}

type Wanted = {
  readonly text: string
  readonly size: number
  readonly after: string | undefined
}

const termsOf = async (
  reader: Reader,
  index: NamedIndex,
  { text, size, after }: Wanted,
): Promise<readonly string[]> => {
  const { connection, signal } = reader
  const alias = reader.names.state(index)
  const what = `list names of ${alias}`
  const answer = await requestJson<Terms>(connection, {
    what,
    method: 'POST',
    path: `/${alias}/_terms_enum`,
    body: JSON.stringify({
      field: NAMED,
      string: toStateId(index, text),
      size,
      timeout: TIMEOUT,
      search_after: after === undefined ? undefined : toStateId(index, after),
    }),
    signal,
  })
  if (answer.complete !== true || answer._shards?.failed !== 0)
    throw new Failure('unavailable', `Elasticsearch at ${connection.url} listed only part of the names of ${alias}.`, {
      help: 'Check the health of the cluster, then retry.',
      retryable: true,
    })
  return requireValid({ connection, what }, answer.terms, Array.isArray).map(name => fromStateId(index, name))
}

/** Names from `text` to the last name with that prefix, or to `until`, inclusive. */
type Span = {
  readonly text: string
  readonly until: string | undefined
  readonly found: readonly { readonly id: string }[]
}

const requireAll = async (reader: Reader, index: NamedIndex, { text, until, found }: Span): Promise<void> => {
  const name = reader.names.state(index)
  const from = toStateId(index, text)
  const within =
    until === undefined
      ? { prefix: { [NAMED]: from } }
      : { range: { [NAMED]: { gte: from, lte: toStateId(index, until) } } }
  const [named, newer] = await searchOneCopy<{ readonly _id: string }>(reader, name, [
    { size: found.length + 1, _source: false, query: { bool: { filter: [within] } } },
    {
      size: 0,
      track_total_hits: 1,
      terminate_after: 1,
      query: { range: { [AT]: { gt: stampOf(reader.published) } } },
    },
  ])
  const origin = { connection: reader.connection, what: `search ${name}` }
  if (requireValid(origin, newer?.hits?.total?.value) > 0) throw new NewerData()
  const known = new Set(found.map(({ id }) => toStateId(index, id)))
  for (const { _id } of requireValid(origin, named?.hits?.hits, Array.isArray))
    if (!known.has(_id)) throw new OutOfDateCopy(reader.connection, name)
}
