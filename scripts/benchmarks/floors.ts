import { records } from '#indices/record.ts'
import { toShape } from '#store/elastic/schema/mappings.ts'
import type { Bench } from './bench.ts'
import { bodiesOf, sendBodies } from './elastic.ts'
import type { TargetRun } from './in-turns.ts'

/** Rows per page, here and in all requests compared with the floors. */
export const SIZE = 20
/** Number of other rows, so that the search for the term has to skip some. */
const OTHERS = 10_000

/**
 * Lower bounds for any service on Elasticsearch. F1: a search without hits. F2: a full page of equal rows,
 * found by a term that only they have, without sorting, scoring or counting. The searches use an index of
 * their own with rows of a loaded store.
 * @param loaded prefix of that store's indices
 */
export const floors = async ({ elastic, prefix }: Bench, loaded: string): Promise<readonly TargetRun[]> => {
  const index = `${prefix}-floor`
  const { settings, mappings } = toShape(records)
  await elastic.json('PUT', `/${index}`, {
    settings: { index: { ...settings.index, number_of_replicas: 0 } },
    mappings: {
      dynamic: 'strict',
      properties: { ...mappings.properties, mark: { type: 'keyword', doc_values: false } },
    },
  })
  type Found = { readonly hits: { readonly hits: readonly { readonly _source: object }[] } }
  const { hits } = await elastic.json<Found>('POST', `/${loaded}-records/_search`, { size: OTHERS })
  const rows = hits.hits.map(({ _source }) => _source)
  const marked = (id: string, row: object | undefined, mark: string) => ({
    id,
    source: JSON.stringify({ ...row, mark }),
  })
  const others = rows.map((row, at) => marked(`other${at}`, row, `other${at}`))
  const equal = Array.from({ length: SIZE }, (_, at) => marked(`equal${at}`, rows[0], 'equal'))
  await sendBodies(elastic, bodiesOf(index, [...others, ...equal]), index)
  await elastic.send('POST', `/${index}/_forcemerge?max_num_segments=1`)
  const path = `/${index}/_search?filter_path=hits.hits._id,hits.hits._source`
  const bodyFor = (mark: string): string =>
    JSON.stringify({
      size: SIZE,
      track_total_hits: false,
      query: { bool: { filter: [{ term: { mark } }] } },
    })
  const found = (await elastic.send('POST', path, bodyFor('equal'))).split('"_id"').length - 1
  if (found !== SIZE) throw new Error(`The floor has ${found} rows.`)
  const floor = (name: string, mark: string): TargetRun => ({
    name,
    target: { url: elastic.url, paths: [path], body: bodyFor(mark) },
  })
  return [floor('F1: empty search', 'nobody'), floor(`F2: ${SIZE} equal rows by a term`, 'equal')]
}
