import { Database } from 'bun:sqlite'
import { historyIndices } from '#indices/registry.ts'
import { openElastic } from '#store/elastic/open-elastic.ts'
import { STATE_INDICES } from '#store/elastic/schema/names.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { bodiesOf, type Elastic, sendBodies } from './elastic.ts'

/** The cost of a raw bulk. Only writing is measured; documents are prepared before. */
export type Raw = { readonly seconds: number; readonly documents: number }

/** Rows per transaction, about as many as in a loader's batches. */
const ROWS = 20_000

/**
 * Copies the history after `height` into a new file with the same tables. State is left out, because it does
 * not record when it was written.
 */
export const rawSqlite = async (loaded: string, copy: string, height: number): Promise<Raw> => {
  const empty = openSqlite({ path: copy })
  await empty.create()
  await empty.close()
  const from = new Database(loaded, { readonly: true, safeIntegers: true })
  const to = new Database(copy, { safeIntegers: true })
  to.run('PRAGMA journal_mode = WAL')
  to.run('PRAGMA synchronous = NORMAL')
  let [seconds, documents] = [0, 0]
  const write = (name: string, rows: readonly unknown[][]): void => {
    const [first] = rows
    if (first === undefined) return
    const start = performance.now()
    const columns = columnsOf(to, name).map(column => `"${column}"`)
    const insert = to.prepare(`INSERT INTO "${name}" (${columns.join(',')}) VALUES (${first.map(() => '?').join(',')})`)
    to.transaction(() => {
      for (const row of rows) insert.run(...(row as string[]))
    })()
    seconds += (performance.now() - start) / 1_000
  }
  /**
   * Copies a table in pieces, each in one transaction as a loader's batches, so that a file of any size can be copied.
   */
  const copyRows = (name: string, column: string, after: bigint): number => {
    const columns = columnsOf(from, name)
    const read = from.prepare(
      `SELECT ${columns.map(each => `"${each}"`).join(',')} FROM "${name}" WHERE "${column}" > ? ORDER BY "${column}" LIMIT ${ROWS}`,
    )
    const key = columns.indexOf(column)
    let count = 0
    for (let last = after; ; ) {
      const rows = read.values(last) as bigint[][]
      const next = rows.at(-1)?.[key]
      if (next === undefined) return count
      write(name, rows)
      count += rows.length
      last = next
    }
  }
  const firstRow = (name: string, column: string): bigint => {
    const [row] = from
      .query(`SELECT max("${column}") FROM "${name}" WHERE "height" <= ${height}`)
      .values() as bigint[][]
    return row?.[0] ?? 0n
  }
  for (const { name } of historyIndices) {
    const column = name === 'records' ? '_row' : '_position'
    documents += copyRows(name, column, firstRow(name, column))
  }
  placesAfter(from, firstRow('records', '_row'), rows => write('records.places', rows))
  from.close()
  to.close()
  return { seconds, documents }
}

/** The stored columns of a table; generated columns are not listed. */
const columnsOf = (db: Database, table: string): readonly string[] =>
  (db.query(`SELECT name FROM pragma_table_info('${table}')`).values() as string[][]).flat()

/** Reads the places of the rows after a given one, in pieces, in the order of their rows. */
const placesAfter = (from: Database, after: bigint, each: (rows: readonly unknown[][]) => void): void => {
  const read = from.prepare(`SELECT "_row", "places" FROM "records" WHERE "_row" > ? ORDER BY "_row" LIMIT ${ROWS}`)
  for (let last = after; ; ) {
    const rows = read.values(last) as [bigint, Uint8Array][]
    const next = rows.at(-1)?.[0]
    if (next === undefined) return
    each(
      rows.flatMap(([row, places]) => {
        const view = new DataView(places.buffer, places.byteOffset, places.byteLength)
        return Array.from({ length: places.length / 8 }, (_, at) => [view.getBigInt64(at * 8), row])
      }),
    )
    last = next
  }
}

type Hit = { readonly _index: string; readonly _id: string; readonly _source: object }
type Scrolled = { readonly _scroll_id: string; readonly hits: { readonly hits: readonly Hit[] } }

/** Number of bodies prepared at once: some 100 MB. */
const READY = 24

/** Sends every document written after a height to new indices with the same mappings, ids and bulk size. */
export const rawElastic = async (
  elastic: Elastic,
  { loaded, copy, height }: { readonly loaded: string; readonly copy: string; readonly height: number },
): Promise<Raw> => {
  const store = openElastic({ url: elastic.url, prefix: copy })
  await store.create()
  await store.close()
  let [seconds, documents] = [0, 0]
  const history = historyIndices.map(({ name }) => ({ name, tail: '000000', written: 'height' }))
  const state = STATE_INDICES.map(name => ({ name, tail: '0', written: 'at' }))
  for (const { name, tail, written } of [...history, ...state]) {
    const index = `${copy}-${name}-${tail}`
    let ready: string[] = []
    const flush = async (): Promise<void> => {
      seconds += await sendBodies(elastic, ready, index)
      ready = []
    }
    const after = { range: { [written]: { gt: height } } }
    for await (const hits of scroll(elastic, `${loaded}-${name}`, after)) {
      documents += hits.length
      ready.push(
        ...bodiesOf(
          index,
          hits.map(({ _id, _source }) => ({ id: _id, source: JSON.stringify(_source) })),
        ),
      )
      if (ready.length >= READY) await flush()
    }
    if (ready.length > 0) await flush()
  }
  return { seconds, documents }
}

async function* scroll(elastic: Elastic, alias: string, query: object) {
  let answer = await elastic.json<Scrolled>('POST', `/${alias}/_search?scroll=5m`, {
    size: 5_000,
    query,
    sort: ['_doc'],
  })
  while (answer.hits.hits.length > 0) {
    yield answer.hits.hits
    const { _scroll_id } = answer
    answer = await elastic.json<Scrolled>('POST', '/_search/scroll', { scroll: '5m', scroll_id: _scroll_id })
  }
  await elastic.json('DELETE', '/_search/scroll', { scroll_id: answer._scroll_id })
}
