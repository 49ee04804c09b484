import { Database } from 'bun:sqlite'
import { historyIndices, stateIndices } from '#indices/registry.ts'
import { openElastic } from '#store/elastic/open-elastic.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'

const NAMES = [...historyIndices, ...stateIndices].map(({ name }) => name)
/** Rows of one transaction, as a loader's batches have about. */
const ROWS = 20_000
/** Bytes of one bulk, and how many are sent at once: what the loader's own sender does. */
const BYTES = 4_000_000
const SENDERS = 2

/** Copies every row of a loaded file into a new one with the same tables and nothing else: documents and seconds. */
export const rawSqlite = async (loaded: string, copy: string) => {
  const empty = openSqlite({ path: copy })
  await empty.create()
  await empty.close()
  const from = new Database(loaded, { readonly: true, safeIntegers: true })
  const to = new Database(copy, { safeIntegers: true })
  to.run('PRAGMA journal_mode = WAL')
  to.run('PRAGMA synchronous = NORMAL')
  const tables = [...NAMES, 'records.places'].map(name => {
    const rows = from.query(`SELECT * FROM "${name}"`).values() as unknown[][]
    return { name, rows }
  })
  const start = performance.now()
  for (const { name, rows } of tables) {
    const [first] = rows
    if (first === undefined) continue
    const insert = to.prepare(`INSERT INTO "${name}" VALUES (${first.map(() => '?').join(',')})`)
    const put = to.transaction((part: readonly unknown[][]) => {
      for (const row of part) insert.run(...(row as string[]))
    })
    for (let at = 0; at < rows.length; at += ROWS) put(rows.slice(at, at + ROWS))
  }
  const seconds = (performance.now() - start) / 1_000
  from.close()
  to.close()
  return {
    seconds,
    documents: tables.reduce((sum, { name, rows }) => sum + (name.includes('.') ? 0 : rows.length), 0),
  }
}

type Hit = { readonly _index: string; readonly _id: string; readonly _source: object }

/** Sends every document of a loaded prefix to new indices with the same mappings, ids and bulk size, and refreshes. */
export const rawElastic = async (url: string, loaded: string, copy: string) => {
  const post = async (path: string, body: string, type = 'application/json'): Promise<unknown> => {
    const answer = await fetch(url + path, { method: 'POST', headers: { 'content-type': type }, body })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
  const bodies: string[] = []
  let documents = 0
  let body = ''
  for (const name of NAMES) {
    let answer = (await post(`/${loaded}-${name}/_search?scroll=1m`, '{"size":5000}')) as {
      _scroll_id: string
      hits: { hits: readonly Hit[] }
    }
    while (answer.hits.hits.length > 0) {
      for (const { _index, _id, _source } of answer.hits.hits) {
        const index = copy + _index.slice(loaded.length)
        body += `${JSON.stringify({ create: { _index: index, _id } })}\n${JSON.stringify(_source)}\n`
        documents++
        if (body.length < BYTES) continue
        bodies.push(body)
        body = ''
      }
      answer = (await post(
        '/_search/scroll',
        JSON.stringify({ scroll: '1m', scroll_id: answer._scroll_id }),
      )) as typeof answer
    }
  }
  if (body !== '') bodies.push(body)
  const store = openElastic({ url, prefix: copy })
  await store.create()
  await store.close()
  const start = performance.now()
  const sender = async (): Promise<void> => {
    for (let next = bodies.shift(); next !== undefined; next = bodies.shift())
      await post('/_bulk?filter_path=errors', next, 'application/x-ndjson')
  }
  await Promise.all(Array.from({ length: SENDERS }, sender))
  await post(`/${copy}-*/_refresh`, '')
  return { seconds: (performance.now() - start) / 1_000, documents }
}
