import { Database } from 'bun:sqlite'
import { type AnyIndex, historyIndices, stateIndices } from '#indices/registry.ts'
import { fromStateId, getStoredNames, STATE_INDICES } from '#store/elastic/schema/names.ts'

/** Every document of a store as text, by `index/id`, read without the store's own code. */
export type Dump = ReadonlyMap<string, string>

const NAMES = [...historyIndices, ...stateIndices].map(({ name }) => name)

/** Documents of a SQLite store, and the row at each position of a list. */
export function dumpSqlite(path: string): Dump {
  const database = new Database(path, { readonly: true, safeIntegers: true })
  try {
    const dump = new Map<string, string>()
    for (const name of NAMES)
      for (const row of database.query(`SELECT * FROM "${name}"`).iterate() as Iterable<Record<string, unknown>>) {
        const { _row, _position, id, ...fields } = row
        dump.set(`${name}/${id}`, written(fields))
      }
    const places = database.query(
      'SELECT p.*, r.id AS record FROM "records.places" p JOIN records r ON r._row = p."row"',
    )
    for (const { place, record } of places.iterate() as Iterable<{ place: bigint; record: string }>)
      dump.set(`places/${place}`, record)
    return dump
  } finally {
    database.close()
  }
}

/**
 * Documents of an Elasticsearch store, without the fields of the batch that last wrote the document: `at`, its height, and
 * `before`, the document that it replaced. The split into batches is internal to the store.
 */
export async function dumpElastic(url: string, prefix: string): Promise<Dump> {
  const dump = new Map<string, string>()
  const ask = async (path: string, body: object): Promise<ScrollAnswer> => {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as ScrollAnswer
  }
  for (const name of [...historyIndices.map(({ name }) => name), ...STATE_INDICES]) {
    let answer = await ask(`/${prefix}-${name}/_search?scroll=1m`, { size: 5_000 })
    while (answer.hits.hits.length > 0) {
      for (const { _id, _source } of answer.hits.hits) {
        const { at, before, kind = name, named, ...fields } = _source
        const index = byName.get(String(kind))
        if (index === undefined) throw new Error(`There is a document of ${kind}.`)
        const id = index.kind === 'state' ? fromStateId(index, _id) : _id
        dump.set(`${index.name}/${id}`, written(ownFields(index, fields)))
      }
      answer = await ask('/_search/scroll', { scroll: '1m', scroll_id: answer._scroll_id })
    }
    // A server keeps at most 500 open scrolls.
    await fetch(`${url}/_search/scroll/${answer._scroll_id}`, { method: 'DELETE' })
  }
  return dump
}

type ScrollAnswer = {
  readonly _scroll_id: string
  readonly hits: {
    readonly hits: readonly { readonly _id: string; readonly _source: Record<string, unknown> }[]
  }
}

const byName = new Map<string, AnyIndex>([...historyIndices, ...stateIndices].map(index => [index.name, index]))

/** The fields of a document by their own names. */
function ownFields(index: AnyIndex, fields: Readonly<Record<string, unknown>>) {
  const own = new Map(Object.entries(getStoredNames(index)).map(([name, stored]) => [stored, name]))
  const { group, ...rest } = fields
  const kept = group === '' && !own.has('group') ? rest : fields
  return Object.fromEntries(Object.entries(kept).map(([name, value]) => [own.get(name) ?? name, value]))
}

const written = (fields: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(
    Object.entries(fields)
      .filter(([, value]) => value !== null)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, value instanceof Uint8Array ? Buffer.from(value).toString('hex') : `${value}`]),
  )

/** Some of the differences, each as `index/id: one | other`. */
export function differences(a: Dump, b: Dump): readonly string[] {
  const found: string[] = []
  for (const id of new Set([...a.keys(), ...b.keys()])) {
    if (a.get(id) === b.get(id)) continue
    found.push(`${id}: ${a.get(id)?.slice(0, 300)} | ${b.get(id)?.slice(0, 300)}`)
    if (found.length === 5) break
  }
  return found
}
