import { Database } from 'bun:sqlite'
import { parseArgs } from 'node:util'
import { lists, toPlace } from '#indices/list.ts'
import { recordsSql } from '#store/sqlite/view.ts'
import { openPlace } from './place.ts'

/**
 * The floor of a page of a list: `bare-server.ts --path PATH --list KEY [--elastic URL]` serves `/?page=N` with nothing
 * but the store's own work. On SQLite it reads 20 stored rows and joins them; on Elasticsearch it sends the search that
 * the service sends, by fetch, and shows its rows.
 */

const { values } = parseArgs({
  options: {
    path: { type: 'string', default: '' },
    list: { type: 'string', default: '' },
    elastic: { type: 'string' },
  },
})

/** Rows of a page. */
const SIZE = 20

const store = openPlace(values.path, values.elastic)
const list = requireList(await store.read(view => view.get(lists, values.list)))
await store.close()

function requireList<T>(found: T | undefined): T {
  if (found === undefined) throw new Error(`The store has no list '${values.list}'.`)
  return found
}

/** The places of a page, oldest first; page 1 is the newest. */
function readPlaces(url: string): readonly [bigint, bigint] {
  const last = list.count - SIZE * (Number(new URL(url).searchParams.get('page')) - 1)
  return [toPlace(list.number, Math.max(1, last - SIZE + 1)), toPlace(list.number, last)]
}

function answerSqlite(): (url: string) => Response {
  const rows = new Database(values.path, { readonly: true }).query(recordsSql)
  return url =>
    new Response(
      rows
        .values(...readPlaces(url))
        .map(row => row.join(','))
        .join('\n'),
    )
}

async function answerElastic(url: string): Promise<Response> {
  const [gte, lte] = readPlaces(url).map(String)
  const body = JSON.stringify({ track_total_hits: false, query: { range: { places: { gte, lte } } }, size: SIZE })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${values.elastic}/${values.path}-records/_search`, { method: 'POST', headers, body })
  type Found = { readonly hits: { readonly hits: readonly { readonly _source: object }[] } }
  return Response.json(((await answer.json()) as Found).hits.hits.map(({ _source }) => _source))
}

const answer = values.elastic === undefined ? answerSqlite() : answerElastic
const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: ({ url }) => answer(url) })
console.log(server.url.href)
