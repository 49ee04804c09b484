import { Database } from 'bun:sqlite'
import type { DocOf } from '#indices/define.ts'
import { records } from '#indices/record.ts'
import type { AnyIndex } from '#indices/registry.ts'
import { getStateIndex, getStoredNames, toStateId } from '#store/elastic/schema/names.ts'
import type { Store } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { keyCells, keyList } from '#store/sqlite/rows.ts'
import { getTable } from '#store/sqlite/tables.ts'
import { type Dump, dumpElastic, dumpSqlite } from './dump.ts'
import { openTestElastic, type TestElastic } from './elasticsearch.ts'
import { temporarySqlite } from './loading.ts'

type Value = string | bigint | number

export type Harm = {
  change(index: AnyIndex, id: string, field: string, value: Value): Promise<void>
  /**
   * Like `change`, but made by a program that does not keep versions, or that sets a version of its own. The
   * field that stores the document's height of writing changes with it.
   */
  edit(index: AnyIndex, id: string, field: string, value: Value, version?: number): Promise<void>
  remove(index: AnyIndex, id: string): Promise<void>
  /** Overwrites the published height or the checkpoint. The embedded store keeps both in one record. */
  say(where: 'published' | 'checkpoint', end: Readonly<Record<string, string | number>>): Promise<void>
  /** Removes the published height or the checkpoint. */
  lose(where: 'published' | 'checkpoint'): Promise<void>
  /** Reads the published height or the checkpoint. The returned function writes it again after it was lost. */
  keep(where: 'published' | 'checkpoint'): Promise<() => Promise<void>>
  copy(index: AnyIndex, id: string, as: string): Promise<void>
  losePlace(id: string, place: bigint): Promise<void>
  reopen(): Store
}

export type Damageable = Harm &
  AsyncDisposable & {
    readonly kind: 'sqlite' | 'elastic'
    readonly store: Store
    /** Command-line arguments with which another process opens the same store. */
    readonly args: readonly string[]
    dump(): Promise<Dump>
    destroy(): Promise<void>
  }

/** All documents of an index, in order of id, or only the first page of them. */
export async function readAll<I extends AnyIndex>({ store }: { store: Store }, index: I, isFirst = false) {
  const audit = await store.audit()
  const docs: { readonly id: string; readonly doc: DocOf<I> }[] = []
  for await (const page of audit.scan(index)) {
    docs.push(...(page as typeof docs))
    if (isFirst) break
  }
  await audit.close()
  return docs.sort((a, b) => (a.id < b.id ? -1 : 1))
}

export function harmSqlite(path: string): Harm {
  const use = <T>(work: (database: Database) => T): T => {
    const database = new Database(path, { safeIntegers: true })
    try {
      return work(database)
    } finally {
      database.close()
    }
  }
  const write = async (sql: string, ...values: readonly Value[]): Promise<void> => {
    const { changes } = use(database => database.query(sql).run(...values))
    if (changes === 0) throw new Error(`Nothing to damage: ${sql} ${values}`)
  }
  const change: Harm['change'] = ({ name }, id, field, value) =>
    write(`UPDATE "${name}" SET "${field}" = ? WHERE id = ?`, value, id)
  return {
    change,
    edit: change,
    remove: ({ name }, id) => write(`DELETE FROM "${name}" WHERE id = ?`, id),
    say: async (_, end) => {
      for (const [field, value] of Object.entries(end))
        await write(`UPDATE meta SET value = json_set(value, '$.' || ?, ?) WHERE key = 'published'`, field, value)
    },
    lose: () => write(`DELETE FROM meta WHERE key = 'published'`),
    keep: async () => {
      const kept = use(database => database.query(`SELECT value FROM meta WHERE key = 'published'`).get())
      const { value } = kept as { readonly value: string }
      return () => write(`INSERT INTO meta (key, value) VALUES ('published', ?)`, value)
    },
    copy: (index, id, as) => {
      const table = getTable(index)
      const key = keyCells(table, as) as readonly Value[]
      const columns = table.columns
        .map(({ name }) => name)
        .filter(name => !table.key.includes(name))
        .map(name => `"${name}"`)
        .join(', ')
      return write(
        `INSERT INTO "${index.name}" (${keyList(table)}, ${columns})` +
          ` SELECT ${key.map(() => '?').join(', ')}, ${columns} FROM "${index.name}" WHERE id = ?`,
        ...key,
        id,
      )
    },
    losePlace: (_, place) => write('DELETE FROM "records.places" WHERE place = ?', place),
    reopen: () => openSqlite({ path }),
  }
}

export async function damageableSqlite(from?: string): Promise<Damageable> {
  const { store, path, destroy } = await temporarySqlite(from)
  const dump = async () => dumpSqlite(path)
  return {
    ...harmSqlite(path),
    kind: 'sqlite',
    store,
    args: ['sqlite', path],
    dump,
    destroy,
    [Symbol.asyncDispose]: destroy,
  }
}

/** A history document is written to its partition, a state document through an alias. */
function documentPath(index: AnyIndex, id: string): string {
  return index.kind === 'history'
    ? `${index.name}-000000/_doc/${encodeURIComponent(id)}`
    : `${getStateIndex(index)}/_doc/${encodeURIComponent(toStateId(index, id))}`
}

type Stored = { readonly _source: Record<string, unknown>; readonly _version: number }

export function harmElastic({ ask, reopen }: Pick<TestElastic, 'ask' | 'reopen'>): Harm {
  const get = (index: AnyIndex, id: string) => ask<Stored>('GET', documentPath(index, id))
  const put = async (index: AnyIndex, id: string, source: object, version: number): Promise<void> => {
    const versioned = index.kind === 'state' ? `&version=${version}&version_type=external_gte` : ''
    await ask('PUT', `${documentPath(index, id)}?refresh=true${versioned}`, source)
  }
  const edited = async (index: AnyIndex, id: string, field: string, value: Value) => {
    const { _source, _version } = await get(index, id)
    const written = typeof value === 'bigint' ? String(value) : value
    return { source: { ..._source, [getStoredNames(index)[field] ?? field]: written }, version: _version }
  }
  const readMeta = async (where: string) => (await ask<Stored>('GET', `meta/_doc/${where}`))._source
  const putMeta = async (where: string, source: object): Promise<void> =>
    void (await ask('PUT', `meta/_doc/${where}?refresh=true`, source))
  return {
    change: async (index, id, field, value) => {
      const { source, version } = await edited(index, id, field, value)
      await put(index, id, source, version)
    },
    edit: async (index, id, field, value, version) => {
      const { source } = await edited(index, id, field, value)
      if (version === undefined) await ask('PUT', `${documentPath(index, id)}?refresh=true`, source)
      else await put(index, id, { ...source, at: version - 1 }, version)
    },
    remove: async (index, id) => void (await ask('DELETE', `${documentPath(index, id)}?refresh=true`)),
    say: async (where, end) => {
      const said = JSON.parse(String((await readMeta(where))['body'])) as { readonly end: object }
      await putMeta(where, { body: JSON.stringify({ ...said, end: { ...said.end, ...end } }) })
    },
    lose: async where => void (await ask('DELETE', `meta/_doc/${where}?refresh=true`)),
    keep: async where => {
      const source = await readMeta(where)
      return () => putMeta(where, source)
    },
    copy: async (index, id, as) => {
      const { _source, _version } = await get(index, id)
      await put(index, as, _source, _version)
    },
    losePlace: async (id, place) => {
      const { _source, _version } = await get(records, id)
      const places = (_source['places'] as readonly string[]).filter(each => each !== String(place))
      await put(records, id, { ..._source, places }, _version)
    },
    reopen,
  }
}

export async function damageableElastic(options: { readonly partitionDocuments?: number } = {}): Promise<Damageable> {
  const target = openTestElastic(options)
  const { store, url, prefix, destroy } = target
  const args = ['elastic', url, prefix, ...Object.values(options).map(String)]
  const dump = async () => {
    await target.ask('POST', '*/_refresh')
    return dumpElastic(url, prefix)
  }
  return { ...harmElastic(target), kind: 'elastic', store, args, dump, destroy, [Symbol.asyncDispose]: destroy }
}
