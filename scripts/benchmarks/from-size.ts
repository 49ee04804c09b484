import { records } from '#indices/record.ts'
import type { Bench, Served } from './bench.ts'
import { bodiesOf, calm, createLike, sendBodies, sourceOf } from './elastic.ts'
import { filledBlocks, HUB, hubRow } from './filled-chain.ts'
import { SIZE } from './floors.ts'
import { scattered } from './holders.ts'
import { fixed, interleaved, table, whole } from './measure.ts'
import { hubList, lastPage } from './pages.ts'

/** Rows of the hub that are copied at most: what is compared holds all rows before a page in memory, and gets slower. */
const MOST = 1_000_000
/** Pages by `from` and `size` take up to a second each. */
const FEWER = 20

/** The hub's rows once more, found by their list's key and sorted by ordinal on disk, as others page through them. */
const copyHub = async ({ elastic, rows }: Bench, index: string, total: number): Promise<void> => {
  await createLike(elastic, index, {
    like: records,
    settings: {
      sort: { field: ['list', 'ordinal'], order: ['asc', 'asc'] },
      max_result_window: 2_147_483_647,
    },
    properties: { list: { type: 'keyword' }, ordinal: { type: 'long' } },
  })
  const chain = filledBlocks(rows)
  function* copies() {
    for (let ordinal = 1; ordinal <= total; ordinal++) {
      const doc = chain.record(hubRow(ordinal))
      const source = sourceOf(records, doc).slice(0, -1)
      yield { id: doc.id, source: `${source},"list":"account/${HUB}","ordinal":${ordinal}}` }
    }
  }
  await sendBodies(elastic, bodiesOf(index, copies()), index)
  await calm(elastic, index)
}

/** Random pages of the hub by `from` and `size` against ours. */
export const fromSizeSection = async (bench: Bench, served: Served): Promise<string> => {
  const { elastic } = bench
  const index = `${bench.prefix}-from-size`
  const list = hubList(bench)
  const total = Math.min(list.total, MOST)
  await copyHub(bench, index, total)
  let refused = 0
  const theirs = (n: number): Promise<unknown> =>
    elastic
      .send(
        'POST',
        `/${index}/_search?filter_path=hits.hits._id,hits.hits._source`,
        JSON.stringify({
          from: scattered(n, total - SIZE),
          size: SIZE,
          track_total_hits: false,
          query: { bool: { filter: [{ term: { list: `account/${HUB}` } }] } },
          sort: [{ list: 'asc' }, { ordinal: 'asc' }],
        }),
      )
      .catch((error: unknown) => {
        // So many rows may be more than its memory has room for.
        if (!/: (429|503) /.test(String(error))) throw error
        refused += 1
      })
  const ours = (n: number): Promise<string> =>
    served.ask(`${list.query}&page=${1 + scattered(n, lastPage(list.total))}`)
  const asks = [
    { name: `from/size among ${whole(total)} sorted rows`, ask: theirs },
    { name: `pages of ours among ${whole(list.total)}`, ask: ours },
  ]
  const times = await interleaved(asks, { calls: Math.max(20, bench.calls / FEWER), clients: 1 })
  const [other, own] = times
  bench.judge({
    promise: 'Elasticsearch, random pages against from and size',
    least: 30,
    unit: '× more',
    measured: (own?.perSecond ?? 0) / (other?.perSecond ?? 1),
  })
  await elastic.send('DELETE', `/${index}`)
  const rest = refused === 0 ? '' : `\n\n${refused} of these pages were refused for want of memory.`
  const shown = table(
    ['store', 'what', 'p50 ms', 'p99 ms', '/s', '/s of from/size'],
    times.map((each, at) => [
      'Elasticsearch',
      asks[at]?.name ?? '',
      fixed(each.p50),
      fixed(each.p99),
      whole(each.perSecond),
      `${fixed(each.perSecond / (other?.perSecond ?? 1), 1)} ×`,
    ]),
  )
  return shown + rest
}
