import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { balances } from '#indices/balance.ts'
import { blocks } from '#indices/block.ts'
import type { Index } from '#indices/define.ts'
import { records } from '#indices/record.ts'
import { transactions } from '#indices/transaction.ts'
import { historyRows, upsert } from '#store/sqlite/commit.ts'
import { openWriter } from '#store/sqlite/connection.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { tableOf } from '#store/sqlite/tables.ts'
import { type Bench, folderOf } from './bench.ts'
import { bodiesOf, createLike, mergedBytes, sendBodies, sourceOf, type Variant } from './elastic.ts'
import { blockWith, filledBlocks, holderDoc } from './filled-chain.ts'
import { holdersOf, scattered, TOKEN } from './holders.ts'
import { fixed, table, whole } from './measure.ts'

type Doc = { readonly id: string }
type Tried = Variant & {
  readonly name: string
  /** Fields that are left out. */
  readonly without?: readonly string[]
  readonly id?: (doc: Doc, at: number) => string | undefined
}
type Kind = {
  readonly title: string
  readonly index: Index
  readonly docs: readonly Doc[]
  readonly variants: readonly Tried[]
}

/** A part of a sample is enough for bytes. */
const SHARE = 4

const AS_MADE: Tried = { name: 'as the store makes it' }
const COMPRESSED: Tried = { name: 'codec best_compression', settings: { codec: 'best_compression' } }
/** Positions as 6 bytes in base 64 instead of 12 to 24 digits. */
const SHORT: Tried = { name: 'ids of 8 letters', id: (_, at) => at.toString(36).padStart(8, '0') }
const NO_HEIGHT: Tried = {
  name: 'height without doc values',
  properties: { height: { type: 'long', index: false, doc_values: false } },
}

const nearEmpty = (count: number): Kind => ({
  title: 'near-empty block',
  index: blocks,
  docs: Array.from({ length: count }, (_, at) => blockWith(at + 1, [])),
  variants: [
    AS_MADE,
    COMPRESSED,
    SHORT,
    NO_HEIGHT,
    { name: 'without parent_hash (the block before has it)', without: ['parent_hash'] },
    {
      name: 'without what is empty or follows from others',
      without: ['parent_hash', 'height', 'orig_info', 'info', 'version', 'witness_account'],
    },
  ],
})

const kindsFor = (count: number): readonly Kind[] => {
  const chain = filledBlocks(count)
  const filled = Array.from({ length: chain.last + 1 }, (_, height) => chain.block(height))
  const holders = holdersOf(count)
  return [
    nearEmpty(count),
    {
      title: 'transaction',
      index: transactions,
      docs: filled.flatMap(each => each.transactions),
      variants: [
        AS_MADE,
        COMPRESSED,
        SHORT,
        NO_HEIGHT,
        { name: 'without hash, height, tx (body and id have them)', without: ['hash', 'height', 'tx'] },
      ],
    },
    {
      title: 'record',
      index: records,
      docs: filled.flatMap(each => each.records),
      variants: [
        AS_MADE,
        COMPRESSED,
        SHORT,
        NO_HEIGHT,
        {
          name: '_source without places (recovery keeps its own for now)',
          mappings: { _source: { excludes: ['places'] } },
        },
        { name: 'without height, tx, index (the id has them)', without: ['height', 'tx', 'index'] },
        { name: 'without tx_hash (the transaction has it)', without: ['tx_hash'] },
      ],
    },
    {
      title: 'holder',
      index: balances,
      docs: Array.from({ length: count }, (_, n) => holderDoc(TOKEN, holders.standing(scattered(n, count)))),
      variants: [
        AS_MADE,
        COMPRESSED,
        { name: 'not sorted on disk', settings: { sort: { field: [], order: [] } } },
        {
          name: '_source without token and owner (as above)',
          mappings: { _source: { excludes: ['token', 'owner'] } },
        },
      ],
    },
  ]
}

/** Bytes of each kind of document, as it is stored and as it might be. */
export const sizesSection = async (bench: Bench): Promise<string> => {
  const count = Math.ceil(bench.sample / SHARE)
  const kinds = kindsFor(count)
  const rows: (readonly string[])[] = []
  for (const kind of kinds) {
    let made = 0
    for (const variant of kind.variants) {
      const { bytes, perSecond } = await measure(bench, kind, variant)
      if (variant === AS_MADE) made = bytes
      rows.push([
        kind.title,
        variant.name,
        fixed(bytes, 1),
        `${fixed((100 * bytes) / made - 100, 1)} %`,
        whole(perSecond),
      ])
    }
  }
  return [
    `Elasticsearch, ${whole(count)} documents of each kind merged to one segment:`,
    table(['document', 'variant', 'bytes each', 'against as made', 'raw bulk /s'], rows),
    'SQLite, tables with their indexes (`dbstat`):',
    await sqliteSizes(bench, kinds),
  ].join('\n\n')
}

const measure = async ({ elastic, prefix }: Bench, { index, docs }: Kind, variant: Tried) => {
  const name = `${prefix}-size`
  await createLike(elastic, name, { ...variant, like: index })
  const lines = docs.map((doc, at) => ({
    id: variant.id === undefined ? doc.id : variant.id(doc, at),
    source: leaving(sourceOf(index, doc), variant.without),
  }))
  const ready = [...bodiesOf(name, lines as { id: string; source: string }[])]
  const seconds = await sendBodies(elastic, ready, name)
  const bytes = await mergedBytes(elastic, name)
  await elastic.send('DELETE', `/${name}`)
  return { bytes: bytes / docs.length, perSecond: docs.length / seconds }
}

const leaving = (source: string, without: readonly string[] = []): string => {
  if (without.length === 0) return source
  const kept = JSON.parse(source) as Record<string, unknown>
  for (const field of without) delete kept[field]
  return JSON.stringify(kept)
}

const sqliteSizes = async (bench: Bench, kinds: readonly Kind[]): Promise<string> => {
  const path = join(folderOf(bench, 'sizes'), 'store.sqlite')
  const store = openSqlite({ path })
  await store.create()
  await store.close()
  const connection = openWriter(path, path)
  if (connection === undefined) throw new Error(`${path} is not there.`)
  connection.db.transaction(() => {
    for (const { index, docs } of kinds) {
      if (index.kind === 'history') {
        const rows = historyRows(connection, index)
        for (const doc of docs) rows.add(doc)
        rows.end()
      } else for (const doc of docs) upsert(connection, tableOf(index), doc)
    }
  })()
  connection.close()
  const db = new Database(path, { readonly: true })
  const parts = db
    .query(
      'SELECT m.tbl_name, s.name, sum(s.pgsize) FROM dbstat s JOIN sqlite_schema m ON m.name = s.name GROUP BY s.name',
    )
    .values() as [string, string, number][]
  db.close()
  return table(
    ['document', 'bytes each', 'of them'],
    kinds.map(({ title, index, docs }) => {
      const own = parts
        .filter(([tbl]) => tbl === index.name || tbl === `${index.name}.places`)
        .map(([, name, bytes]) => [name, bytes / docs.length] as const)
      const sum = own.reduce((total, [, bytes]) => total + bytes, 0)
      return [title, fixed(sum, 1), own.map(([name, bytes]) => `${name} ${fixed(bytes, 1)}`).join(', ')]
    }),
  )
}
