import { records } from '#indices/record.ts'
import type { Bench } from './bench.ts'
import { bodiesOf, createLike, sendBodies, sourceOf } from './elastic.ts'
import { filledBlocks } from './filled-chain.ts'
import type { Asked } from './in-turns.ts'
import type { Ask } from './measure.ts'

/** Rows of a page, here and in everything that is compared with it. */
export const SIZE = 20
/** Other rows beside them, so that the term is looked for among some. */
const OTHERS = 10_000

/** A floor as a call, and as what a lean client sends. */
export type Floor = Ask & Asked

/**
 * What no service on Elasticsearch can be faster than: F1, a search that finds nothing; F2, a full page of equal rows
 * found by a term that only they carry, nothing sorted, scored or counted. Of an index of its own.
 */
export const floors = async (
  bench: Pick<Bench, 'elastic' | 'prefix'>,
): Promise<readonly [f1: Floor, f2: Floor]> => {
  const { elastic } = bench
  const index = `${bench.prefix}-floor`
  await createLike(elastic, index, {
    like: records,
    properties: { mark: { type: 'keyword', doc_values: false } },
  })
  const chain = filledBlocks(OTHERS)
  const blocks = Array.from({ length: chain.last + 1 }, (_, height) => chain.block(height).records).flat()
  const [first] = blocks
  if (first === undefined) throw new Error('There is no row.')
  const marked = (doc: typeof first, mark: string): string =>
    `${sourceOf(records, doc).slice(0, -1)},"mark":"${mark}"}`
  await sendBodies(
    elastic,
    bodiesOf(index, [
      ...blocks.map(doc => ({ id: doc.id, source: marked(doc, `other${doc.height}`) })),
      ...Array.from({ length: SIZE }, (_, n) => ({ id: `equal${n}`, source: marked(first, 'equal') })),
    ]),
    index,
  )
  await elastic.send('POST', `/${index}/_forcemerge?max_num_segments=1`)
  const path = `/${index}/_search?filter_path=hits.hits._id,hits.hits._source`
  const floor = (name: string, mark: string): Floor => {
    const body = JSON.stringify({
      size: SIZE,
      track_total_hits: false,
      query: { bool: { filter: [{ term: { mark } }] } },
    })
    return {
      name,
      ask: () => elastic.send('POST', path, body),
      target: { url: elastic.url, paths: [path], body },
    }
  }
  const f2 = floor(`F2: ${SIZE} equal rows by a term`, 'equal')
  const rows = String(await f2.ask(0)).split('"_id"').length - 1
  if (rows !== SIZE) throw new Error(`The floor has ${rows} rows.`)
  return [floor('F1: empty search', 'nobody'), f2]
}
