import { statSync } from 'node:fs'
import { type Bench, type StoreName, sqlitePath } from './bench.ts'
import { fixed, table, whole } from './measure.ts'

type Stats = {
  readonly indices: Readonly<
    Record<
      string,
      {
        readonly primaries: {
          readonly docs: { readonly count: number }
          readonly store: { readonly size_in_bytes: number }
          readonly segments: { readonly count: number }
        }
      }
    >
  >
}

/** What a filled store takes as it stands, not merged any further than it merges by itself. */
export const storedText = async (bench: Bench, name: StoreName): Promise<string> => {
  if (name === 'SQLite') {
    const bytes = statSync(sqlitePath(bench)).size
    return `The filled file has ${whole(bytes / 1e6)} MB, ${fixed(bytes / bench.rows, 0)} bytes a transaction with its row.`
  }
  const { indices } = await bench.elastic.json<Stats>(
    'GET',
    `/${bench.prefix}-fill-*/_stats/docs,store,segments`,
  )
  const rows = Object.entries(indices)
    .map(([index, { primaries }]) => ({ index: index.slice(bench.prefix.length + 1), ...primaries }))
    .filter(({ docs }) => docs.count > 100)
    .toSorted((a, b) => b.store.size_in_bytes - a.store.size_in_bytes)
  return [
    'Filled indices as they stand:',
    table(
      ['index', 'documents', 'segments', 'MB', 'bytes each'],
      rows.map(({ index, docs, store, segments }) => [
        index,
        whole(docs.count),
        whole(segments.count),
        whole(store.size_in_bytes / 1e6),
        fixed(store.size_in_bytes / docs.count, 1),
      ]),
    ),
  ].join('\n\n')
}
