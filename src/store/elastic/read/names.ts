import { Failure } from '#failure/failure.ts'
import type { DocOf } from '#indices/define.ts'
import type { NamedIndex } from '#indices/registry.ts'
import { ask } from '../client/ask.ts'
import { expected } from '../client/parse-answer.ts'
import { stampOf } from '../schema/checkpoint.ts'
import { AT } from '../schema/mappings.ts'
import { Newer } from './consistent-read.ts'
import type { Reader } from './view.ts'

type Reading<I extends NamedIndex> = {
  readonly reader: Reader
  readonly getMany: (ids: readonly string[]) => Promise<readonly (DocOf<I> | undefined)[]>
}
type Terms = {
  readonly terms?: readonly string[]
  readonly complete?: boolean
  readonly _shards?: { readonly failed?: number }
}
type Found = { readonly hits?: { readonly total?: { readonly value?: number } } }

/** Longest that the server looks for terms; a list of terms takes it some milliseconds. */
const TIMEOUT = '10s'

/** Names asked for where some of the first ones are of no document any more. */
const MORE = 1_000

/**
 * Documents whose names begin with a text, by name. The names come from the list of terms itself, which is sorted: a
 * search would visit all that match. Terms of documents that were removed or changed stay in it for a while, so the
 * documents decide. Throws `Newer` when something newer than the view could be seen, for a name may be gone with it.
 */
export const docsStartingWith = async <I extends NamedIndex>(
  { reader, getMany }: Reading<I>,
  index: I,
  { text, limit }: { readonly text: string; readonly limit: number },
): Promise<readonly DocOf<I>[]> => {
  const field: string = index.named
  const found: DocOf<I>[] = []
  for (let after: string | undefined; ; ) {
    const size = after === undefined ? limit : Math.max(limit, MORE)
    const names = await termsOf(reader, index, { field, text, size, after })
    const docs = await getMany(names)
    found.push(
      ...docs
        .filter(doc => doc !== undefined && Reflect.get(doc, field) === doc.id)
        .map(doc => doc as DocOf<I>),
    )
    after = names.at(-1)
    if (names.length < size || found.length >= limit) break
  }
  await requireNothingNewer(reader, index)
  return found.slice(0, limit)
}

type Wanted = {
  readonly field: string
  readonly text: string
  readonly size: number
  readonly after: string | undefined
}

const termsOf = async (
  reader: Reader,
  index: NamedIndex,
  { field, text, size, after }: Wanted,
): Promise<readonly string[]> => {
  const { connection, signal } = reader
  const alias = reader.names.state(index)
  const what = `list names of ${alias}`
  const answer = await ask<Terms>(connection, {
    what,
    method: 'POST',
    path: `/${alias}/_terms_enum`,
    body: JSON.stringify({
      field,
      string: text,
      size,
      timeout: TIMEOUT,
      ...(after === undefined ? {} : { search_after: after }),
    }),
    isRead: true,
    signal,
  })
  if (answer.complete !== true || answer._shards?.failed !== 0)
    throw new Failure(
      'unavailable',
      `Elasticsearch at ${connection.url} listed only part of the names of ${alias}.`,
      {
        help: 'Check the health of the cluster, then ask again.',
        retryable: true,
      },
    )
  return expected({ connection, what }, answer.terms, Array.isArray)
}

const requireNothingNewer = async (reader: Reader, index: NamedIndex): Promise<void> => {
  const { connection, signal } = reader
  const alias = reader.names.state(index)
  const what = `search ${alias}`
  const answer = await ask<Found>(connection, {
    what,
    method: 'POST',
    path: `/${alias}/_search`,
    query: { allow_partial_search_results: 'false' },
    body: JSON.stringify({
      size: 0,
      track_total_hits: 1,
      terminate_after: 1,
      query: { range: { [AT]: { gt: stampOf(reader.published) } } },
    }),
    isRead: true,
    signal,
  })
  if (expected({ connection, what }, answer.hits?.total?.value) > 0) throw new Newer()
}
