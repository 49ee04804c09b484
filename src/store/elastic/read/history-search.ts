import type { ListedRecord } from '#indices/record.ts'
import { requestHits, searchOf } from '../client/request-json.ts'
import type { Source } from '../schema/documents.ts'
import { INDICES_AT_ONCE, partsOf } from '../schema/names.ts'
import { OutOfDateCopy } from './out-of-date.ts'
import type { ProofContext } from './proved-docs.ts'

export type Hit = { readonly _id: string; readonly _source: Source }

type Search = {
  /** Without a `bool` around it, which costs some per cent of a page's time. `filter_path` would cost a sixth. */
  readonly query: object
  readonly size: number
  /** Absent: all fields. */
  readonly _source?: readonly (keyof ListedRecord)[]
}

/**
 * Hits in indices of history. Its documents never change, so every hit is right. If there are fewer than `wanted`, a
 * second search shows whether there are no more or a copy is out of date, which throws `OutOfDateCopy`. With `by`, distinct
 * values of that field are counted instead of hits, because hits with the same value do not stand for another value. If
 * `isEnough` rejects the hits, the second search is needed as well.
 */
export const searchHistory = async (
  proving: ProofContext,
  indices: readonly string[],
  search: Search & {
    readonly wanted: number
    readonly by?: string
    readonly isEnough?: ((found: readonly Hit[]) => boolean) | undefined
  },
): Promise<readonly Hit[]> => {
  const { wanted, by, isEnough = () => true, ...own } = search
  let found: readonly Hit[]
  if (indices.length > INDICES_AT_ONCE)
    found = await inParts(indices, part => searchHistory(proving, part, { ...own, wanted: 0 }))
  else found = await requestHits<Hit>(proving.connection, searchOf(String(indices), own, { signal: proving.signal }))
  const count = by === undefined ? found.length : new Set(found.map(({ _source }) => _source[by])).size
  return count < wanted || !isEnough(found) ? provedHistory(proving, indices, own) : found
}

type NamedHit = Hit & { readonly _index?: string; readonly matched_queries?: readonly string[] }

const [OWN, LAST] = ['own', 'last']

/**
 * Like `searchHistory`, with the proof that nothing is missing: the last documents of the indices are among
 * the hits, so the same search of the same copies saw them.
 */
export const provedHistory = (
  proving: ProofContext,
  indices: readonly string[],
  { query, size, _source }: Search,
): Promise<readonly Hit[]> =>
  inParts(indices, async part => {
    const last = part.flatMap(index => {
      const [id] = proving.last[index] ?? []
      return id === undefined ? [] : [{ index, id }]
    })
    const search = {
      query: {
        bool: {
          should: [
            { bool: { filter: [query], _name: OWN } },
            { ids: { values: last.map(({ id }) => id), _name: LAST } },
          ],
        },
      },
      size: size + last.length,
      ...(_source === undefined ? {} : { _source }),
    }
    const hits = await requestHits<NamedHit>(
      proving.connection,
      searchOf(String(part), search, { signal: proving.signal }),
    )
    const seen = new Set(hits.map(({ _index, _id }) => `${_index}/${_id}`))
    for (const { index, id } of last)
      if (!seen.has(`${index}/${id}`)) throw new OutOfDateCopy(proving.connection, index)
    return hits.filter(({ matched_queries }) => matched_queries?.includes(OWN))
  })

/** Searches the indices in requests of as many indices as fit. */
const inParts = async (
  indices: readonly string[],
  search: (part: readonly string[]) => Promise<readonly Hit[]>,
): Promise<readonly Hit[]> => (await Promise.all(partsOf(indices).map(search))).flat()
