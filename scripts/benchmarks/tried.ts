import { Client, HttpConnection } from '@elastic/elasticsearch'
import { listOf, lists, placeOf } from '#indices/list.ts'
import { type RecordDoc, records } from '#indices/record.ts'
import { connect } from '#store/elastic/client/connection.ts'
import type { Bench } from './bench.ts'
import { bodiesOf, createLike, mergedBytes, sendBodies, sourceOf, type Variant } from './elastic.ts'
import { CONTRACT, filledBlocks } from './filled-chain.ts'
import { SIZE } from './floors.ts'
import { scattered } from './holders.ts'
import { type Ask, fixed, interleaved, table, whole } from './measure.ts'
import { lastPage } from './pages.ts'

/** One way to keep rows and to ask for those with ordinals from `first` on. */
type Way = Variant & {
  readonly name: string
  readonly source?: (doc: RecordDoc) => string
  /** Query, and what else the request says. */
  readonly body?: (first: number) => object
  /** Asks the index of this one. */
  readonly same?: string
}

const KEYWORD_DIGITS = 10

const waysFor = (number: number): readonly Way[] => {
  const range = (first: number) => ({
    range: {
      places: { gte: String(placeOf(number, first)), lte: String(placeOf(number, first + SIZE - 1)) },
    },
  })
  const word = (place: bigint): string =>
    `${(place >> 32n).toString(36)}/${String(place & 0xffffffffn).padStart(KEYWORD_DIGITS, '0')}`
  const keyword: Variant & Pick<Way, 'source'> = {
    properties: { places: { type: 'keyword', doc_values: false } },
    source: doc => {
      const { places, ...rest } = JSON.parse(sourceOf(records, doc)) as Record<string, unknown>
      void places
      return JSON.stringify({ ...rest, places: doc.places.map(word) })
    },
  }
  const words = (first: number): readonly string[] =>
    Array.from({ length: SIZE }, (_, at) => word(placeOf(number, first + at)))
  const made = 'as made: places as long, range'
  const ways: readonly Way[] = [
    { name: made, body: first => ({ query: filter(range(first)) }) },
    {
      name: 'the same, 20 terms instead of a range',
      same: made,
      body: first => ({
        query: filter({
          terms: { places: Array.from({ length: SIZE }, (_, at) => String(placeOf(number, first + at))) },
        }),
      }),
    },
    {
      name: 'the same, scored (no filter context)',
      same: made,
      body: first => ({ query: range(first) }),
    },
    {
      name: 'the same, _source without places',
      same: made,
      body: first => ({ query: filter(range(first)), _source: { excludes: ['places'] } }),
    },
    {
      name: 'the same, sorted by _doc',
      same: made,
      body: first => ({ query: filter(range(first)), sort: ['_doc'] }),
    },
    {
      name: 'places as keyword list/ordinal, 20 terms',
      ...keyword,
      body: first => ({ query: filter({ terms: { places: words(first) } }) }),
    },
    { name: 'codec best_compression', settings: { codec: 'best_compression' } },
    {
      name: '_source kept without places (recovery keeps its own for now)',
      mappings: { _source: { excludes: ['places'] } },
    },
    { name: '2 shards', settings: { number_of_shards: 2 } },
    { name: '4 shards', settings: { number_of_shards: 4 } },
  ]
  return ways.map(way => ({ body: first => ({ query: filter(range(first)) }), ...way }))
}

const filter = (query: object): object => ({ bool: { filter: [query] } })

const PATH = '_search?filter_path=hits.hits._id,hits.hits._source'

/** Alternatives of keeping and of asking, side by side on a sample: what the design was chosen from. */
export const triedSection = async (bench: Bench): Promise<string> => {
  const { elastic, sample } = bench
  const chain = filledBlocks(sample)
  const docs = Array.from({ length: chain.last + 1 }, (_, height) => chain.block(height).records).flat()
  const list = chain.lists().find(({ id }) => id === listOf.contract(CONTRACT))
  if (list === undefined) throw new Error('The contract has no list.')
  const firstOf = (n: number): number => 1 + scattered(n, lastPage(sample) - 1) * SIZE
  const ways = waysFor(list.number)
  const indexOf = new Map<string, string>()
  const kept = new Map<string, readonly string[]>()
  for (const [at, way] of ways.entries()) {
    if (way.same !== undefined) continue
    const index = `${bench.prefix}-tried-${at}`
    indexOf.set(way.name, index)
    await createLike(elastic, index, { ...way, like: records })
    const source = way.source ?? (doc => sourceOf(records, doc))
    const bodies = [
      ...bodiesOf(
        index,
        docs.map(doc => ({ id: doc.id, source: source(doc) })),
      ),
    ]
    const seconds = await sendBodies(elastic, bodies, index)
    const bytes = await mergedBytes(elastic, index)
    kept.set(way.name, [fixed(bytes / docs.length, 1), whole(docs.length / seconds)])
  }
  const asks = ways.map(({ name, same, body }): Ask => {
    const index = indexOf.get(same ?? name)
    return {
      name,
      ask: async n => {
        const text = await elastic.send(
          'POST',
          `/${index}/${PATH}`,
          JSON.stringify({ size: SIZE, track_total_hits: false, ...body?.(firstOf(n)) }),
        )
        const rows = text.split('"_id"').length - 1
        if (rows !== SIZE) throw new Error(`${name}: ${rows} rows.`)
      },
    }
  })
  const keeping = await sideBySide(bench, asks, name => kept.get(name) ?? ['', ''])
  const asking = await askingWays(bench, { index: indexOf.get(ways[0]?.name ?? '') ?? '', list, firstOf })
  return [
    `Keeping and asking for ${SIZE} rows at random depth of ${whole(docs.length)}, merged to one segment:`,
    table(['way', 'bytes a row', 'raw bulk /s', ...SIDES], keeping),
    'Ways of one page from the store, of the first index:',
    table(['way', ...SIDES], asking),
  ].join('\n\n')
}

const SIDES = ['p50 ms', 'p99 ms', '÷ first', '8 clients /s', '÷ first'] as const

const sideBySide = async (
  bench: Bench,
  asks: readonly Ask[],
  more: (name: string) => readonly string[],
): Promise<readonly (readonly string[])[]> => {
  const one = await interleaved(asks, { calls: bench.calls, clients: 1 })
  const eight = await interleaved(asks, { calls: bench.calls, clients: 8 })
  return asks.map(({ name }, at) => {
    const [own, many, first, firstMany] = [one[at], eight[at], one[0], eight[0]]
    if (own === undefined || many === undefined || first === undefined || firstMany === undefined) return []
    return [
      name,
      ...more(name),
      fixed(own.p50),
      fixed(own.p99),
      fixed(own.p50 / first.p50),
      whole(many.perSecond),
      fixed(many.perSecond / firstMany.perSecond),
    ]
  })
}

/** A list whose rows are in an index, and the first ordinal of the nth page to ask for. */
type Sample = {
  readonly index: string
  readonly list: { readonly id: string; readonly number: number }
  readonly firstOf: (n: number) => number
}

/** The list's document and the rows, in one request, in two, over which connection. */
const askingWays = async (
  bench: Bench,
  { index, list, firstOf }: Sample,
): Promise<readonly (readonly string[])[]> => {
  const { elastic, prefix } = bench
  const counters = `${prefix}-tried-lists`
  await createLike(elastic, counters, { like: lists })
  const doc = { id: list.id, number: list.number, count: bench.sample, starts: [] }
  await sendBodies(elastic, bodiesOf(counters, [{ id: list.id, source: sourceOf(lists, doc) }]), counters)
  const body = (n: number): string => {
    const [first, last] = [firstOf(n), firstOf(n) + SIZE - 1]
    const places = { gte: String(placeOf(list.number, first)), lte: String(placeOf(list.number, last)) }
    return JSON.stringify({ size: SIZE, track_total_hits: false, query: filter({ range: { places } }) })
  }
  const page = (n: number): Promise<string> => elastic.send('POST', `/${index}/${PATH}`, body(n))
  const mget = JSON.stringify({ docs: [{ _index: counters, _id: list.id }] })
  const counter = (): Promise<string> => elastic.send('POST', '/_mget?realtime=false', mget)
  const byId = `{"index":"${counters}"}\n${JSON.stringify({ query: { ids: { values: [list.id] } } })}\n`
  const connection = connect({ url: elastic.url })
  const client = new Client({ node: elastic.url, Connection: HttpConnection, maxRetries: 0 })
  const path = `/${index}/_search`
  const filtered = { filter_path: 'hits.hits._id,hits.hits._source' }
  const asks: readonly Ask[] = [
    { name: 'fetch, rows only (count known)', ask: page },
    {
      name: "the store's own connection, rows only",
      ask: n => connection.send({ method: 'POST', path, query: filtered, body: body(n) }),
    },
    {
      name: "the client's HttpConnection, rows only",
      ask: n =>
        client.transport.request(
          { method: 'POST', path, querystring: filtered, body: body(n) },
          { headers: { 'content-type': 'application/json' } },
        ),
    },
    { name: "fetch, the list's document, then its rows", ask: n => counter().then(() => page(n)) },
    { name: 'fetch, both at once (count known from before)', ask: n => Promise.all([counter(), page(n)]) },
    {
      name: 'fetch, both in one _msearch (count known from before)',
      ask: n =>
        elastic.send(
          'POST',
          '/_msearch?filter_path=responses.hits.hits._id,responses.hits.hits._source',
          `${byId}{"index":"${index}"}\n${body(n)}\n`,
        ),
    },
  ]
  const rows = await sideBySide(bench, asks, () => [])
  await connection.close()
  await client.close()
  return rows
}
