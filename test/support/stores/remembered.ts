import { ask } from './ask-elastic.ts'
import type { TestElastic } from './elasticsearch.ts'
import { rememberTestState } from './test-state.ts'

type Hit = {
  readonly _index: string
  readonly _id: string
  readonly _version: number
  readonly _source: object
}
type Found = { readonly _scroll_id: string; readonly hits: { readonly hits: readonly Hit[] } }
/** Documents as bulk lines, by index and id. */
type Kept = ReadonlyMap<string, { readonly hit: Hit; readonly text: string }>

/** Elasticsearch prunes tombstones by a cached clock that advances in steps of 200 ms. */
const CLOCK_MS = 250

async function documentsOf(url: string, prefix: string): Promise<Kept> {
  await ask('POST', `${url}/${prefix}-*/_refresh`)
  const kept = new Map<string, { hit: Hit; text: string }>()
  let found = await ask<Found>('POST', `${url}/${prefix}-*/_search?scroll=1m`, { size: 5_000, version: true })
  while (found.hits.hits.length > 0) {
    for (const hit of found.hits.hits)
      kept.set(`${hit._index}/${hit._id}`, { hit, text: `${hit._version} ${JSON.stringify(hit._source)}` })
    found = await ask<Found>('POST', `${url}/_search/scroll`, { scroll: '1m', scroll_id: found._scroll_id })
  }
  await ask('DELETE', `${url}/_search/scroll/${found._scroll_id}`)
  return kept
}

type Done = { readonly items: readonly Readonly<Record<string, { readonly status: number }>>[] }

/** The documents whose write is refused because Elasticsearch remembers a later version. */
async function bulk(
  url: string,
  hits: readonly Hit[],
  linesOf: (hit: Hit) => readonly object[],
): Promise<readonly Hit[]> {
  if (hits.length === 0) return []
  const answer = await fetch(`${url}/_bulk?refresh=true`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: hits.flatMap(hit => linesOf(hit).map(line => `${JSON.stringify(line)}\n`)).join(''),
  })
  const { items } = (await answer.json()) as Done
  const statuses = items.map(item => Object.values(item)[0]?.status ?? 0)
  if (statuses.some(status => status >= 300 && status !== 409))
    throw new Error(`Documents could not be put back: ${statuses}.`)
  return hits.filter((_hit, at) => statuses[at] === 409)
}

/**
 * Saves the documents of a store with their versions. The returned function restores exactly these documents into the
 * same indices, and the loader's file in its place, which is much faster than creating and filling new indices. There must be no other writer meanwhile.
 */
export async function rememberElastic({ url, prefix }: Pick<TestElastic, 'url' | 'prefix'>) {
  const kept = await documentsOf(url, prefix)
  const putStateBack = rememberTestState(prefix)
  const forgetAfter = (gc_deletes: '0s' | null) => ask('PUT', `${url}/${prefix}-*/_settings`, { index: { gc_deletes } })
  return async (): Promise<void> => {
    const now = await documentsOf(url, prefix)
    const changed = (one: Kept, other: Kept): readonly Hit[] =>
      [...one].flatMap(([id, { hit, text }]) => (other.get(id)?.text === text ? [] : [hit]))
    // Elasticsearch refuses an earlier version until it has pruned the tombstone.
    await forgetAfter('0s')
    await bulk(url, changed(now, kept), ({ _index, _id }) => [{ delete: { _index, _id } }])
    // Tombstones of documents that are not restored must be pruned, too: a later load writes them again with
    // the same versions.
    await Bun.sleep(CLOCK_MS)
    await ask('POST', `${url}/${prefix}-*/_refresh`)
    for (let left = changed(kept, now); left.length > 0; await Bun.sleep(CLOCK_MS))
      left = await bulk(url, left, ({ _index, _id, _version, _source }) => [
        { index: { _index, _id, version: _version, version_type: 'external' } },
        _source,
      ])
    await forgetAfter(null)
    putStateBack()
  }
}
