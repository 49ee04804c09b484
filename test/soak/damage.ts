import { Database } from 'bun:sqlite'
import { ask } from '../support/stores/ask-elastic.ts'
import type { SoakPlace } from './place.ts'
import { below, pick } from './random.ts'

/** Ways to damage a store without the program's own code, while nothing writes to it. */
type Harm = {
  /** Deletes some documents of one index. Describes them. */
  documents(random: () => number): Promise<string>
  /** Increases the row count of some lists. Describes them. */
  counts(random: () => number): Promise<string>
  /** Deletes the checkpoint. The returned function restores it. */
  checkpoint(): Promise<() => Promise<void>>
  /** Changes fields of the published height. */
  published(fields: Readonly<Record<string, string | number>>): Promise<void>
}

const INDICES = [
  'accounts',
  'balances',
  'blocks',
  'contracts',
  'lists',
  'records',
  'tokens',
  'transactions',
  'votes',
  'wealth',
] as const
/** Maximum number of documents of one index. */
const MOST = 12
const LOOKED_AT = 200

export const harmTo = ({ path, server }: SoakPlace): Harm =>
  server === undefined ? harmToFile(path ?? '') : harmToIndices(`${server.url}/${server.prefix}-`)

function harmToFile(path: string): Harm {
  const write = (sql: string, ...values: readonly (string | number)[]): void => {
    const database = new Database(path)
    try {
      if (database.query(sql).run(...values).changes === 0) throw new Error(`Nothing to damage: ${sql}`)
    } finally {
      database.close()
    }
  }
  return {
    documents: async random => {
      const [index, count] = [pick(random, INDICES), 1 + below(random, MOST)]
      write(`DELETE FROM "${index}" WHERE id IN (SELECT id FROM "${index}" ORDER BY id LIMIT ? OFFSET ?)`, count, 0)
      return `${count} documents of ${index}`
    },
    counts: async random => {
      const some = 1 + below(random, MOST)
      write('UPDATE lists SET count = count + 1 WHERE id IN (SELECT id FROM lists ORDER BY id LIMIT ?)', some)
      return `${some} lists`
    },
    checkpoint: async () => {
      const database = new Database(path)
      const kept = database.query(`DELETE FROM meta WHERE key = 'published' RETURNING value`).get()
      database.close()
      const { value } = kept as { readonly value: string }
      return async () => write(`INSERT INTO meta (key, value) VALUES ('published', ?)`, value)
    },
    published: async fields => {
      for (const [field, value] of Object.entries(fields))
        write(`UPDATE meta SET value = json_set(value, '$.' || ?, ?) WHERE key = 'published'`, field, value)
    },
  }
}

const HISTORY = ['blocks', 'records', 'transactions']

/** A search of an index of history, or of a kind of state. */
function searchOf(name: string): string {
  return HISTORY.includes(name) ? `${name}*/_search?` : `state/_search?q=kind:${name}&`
}

type Hit<T> = { readonly _index: string; readonly _id: string; readonly _source: T }
type Hits<T> = { readonly hits: { readonly hits: readonly Hit<T>[] } }
type List = { readonly count: number }
type Stored = { readonly _source: { readonly body: string } }

function harmToIndices(prefix: string): Harm {
  const meta = (id: string): string => `${prefix}meta/_doc/${id}?refresh=true`
  const { origin } = new URL(prefix)
  return {
    documents: async random => {
      const [index, count] = [pick(random, INDICES), 1 + below(random, MOST)]
      const { hits } = await ask<Hits<undefined>>('GET', `${prefix}${searchOf(index)}size=${LOOKED_AT}&_source=false`)
      const from = below(random, Math.max(1, hits.hits.length - count))
      const chosen = hits.hits.slice(from, from + count)
      for (const { _index, _id } of chosen)
        await ask('DELETE', `${origin}/${_index}/_doc/${encodeURIComponent(_id)}?refresh=true`)
      return `${chosen.length} documents of ${index}`
    },
    counts: async random => {
      const { hits } = await ask<Hits<List>>('GET', `${prefix}${searchOf('lists')}size=${1 + below(random, MOST)}`)
      for (const { _index, _id, _source } of hits.hits)
        await ask('PUT', `${origin}/${_index}/_doc/${encodeURIComponent(_id)}?refresh=true`, {
          ..._source,
          count: _source.count + 1,
        })
      return `${hits.hits.length} lists`
    },
    checkpoint: async () => {
      const { _source } = await ask<Stored>('GET', meta('checkpoint'))
      await ask('DELETE', meta('checkpoint'))
      return async () => void (await ask('PUT', meta('checkpoint'), _source))
    },
    published: async fields => {
      const { body } = (await ask<Stored>('GET', meta('published')))._source
      const said = JSON.parse(body) as { readonly end: object }
      const edited = { ...said, end: { ...said.end, ...fields } }
      await ask('PUT', meta('published'), { body: JSON.stringify(edited) })
    },
  }
}
