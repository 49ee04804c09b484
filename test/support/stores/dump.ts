import { Database } from 'bun:sqlite'
import { type AnyIndex, historyIndices, stateIndices } from '#indices/registry.ts'
import { getStoredNames, parseStateId, STATE_INDICES } from '#store/elastic/schema/names.ts'
import { readParts } from './ask-elastic.ts'

/** Every document of a store as text, by `index/id`, read without the store's own code. */
export type Dump = ReadonlyMap<string, string>

const byName = new Map<string, AnyIndex>([...historyIndices, ...stateIndices].map(index => [index.name, index]))

/** Documents of a SQLite store, and the row at each position of a list. */
export function dumpSqlite(path: string): Dump {
  const database = new Database(path, { readonly: true, safeIntegers: true })
  try {
    const dump = new Map<string, string>()
    for (const name of byName.keys())
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
  for (const name of [...historyIndices.map(({ name }) => name), ...STATE_INDICES]) {
    for await (const hits of readParts(url, `${prefix}-${name}`))
      for (const { _id, _source } of hits) {
        const { at, before, kind = name, named, ...fields } = _source
        const index = byName.get(String(kind))
        if (index === undefined) throw new Error(`There is a document of ${kind}.`)
        const id = index.kind === 'state' ? parseStateId(index, _id) : _id
        dump.set(`${index.name}/${id}`, written(ownFields(index, fields)))
      }
  }
  return dump
}

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
