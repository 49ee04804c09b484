import { Failure } from '#failure/failure.ts'
import type { AnyIndex } from '#indices/registry.ts'
import { ask } from '../client/ask.ts'
import { sendBulk } from '../client/bulk.ts'
import { type BulkItem, createItem, versionedItem } from '../client/bulk-item.ts'
import type { Connection } from '../client/connection.ts'
import { getMany } from '../client/get-many.ts'
import { openPit } from '../client/point-in-time.ts'
import { refresh } from '../client/refresh.ts'
import type { Cluster } from '../schema/cluster.ts'
import { decode, encode, type Source } from '../schema/documents.ts'
import { AT, HEIGHT } from '../schema/mappings.ts'

/** Documents per page: transactions of a few KB each make a few MB. */
const PAGE = 1_000

export type Copying = {
  /** Defines how its documents are read and written. */
  readonly index: AnyIndex
  readonly from: string
  /** The new index, and the alias under which it is written. */
  readonly to: string
  readonly into: string
  /** History above it is not published and is not copied. */
  readonly height: number
  readonly signal: AbortSignal
  readonly onCopied: (documents: number) => void
  readonly onCompared: (documents: number) => void
}

type Hit = {
  readonly _id: string
  readonly _version: number
  readonly _source: Source
  readonly sort: readonly unknown[]
}

/**
 * Copies the documents of an index with their ids and versions into an empty one; returns their number. Not by
 * `_reindex`: its task would go on writing after this process was killed, and since each document is decoded here, an
 * unreadable one is named. `_reindex` would save only these lines: every copy is read back and compared in any case.
 */
export const copyIndex = async (cluster: Cluster, copying: Copying): Promise<number> => {
  let copied = 0
  let writing: Promise<unknown> = Promise.resolve()
  for await (const page of pagesOf(cluster.connection, copying)) {
    // The next page is read while this one is written.
    await writing
    writing = sendBulk(
      cluster,
      page.map(hit => itemOf(copying, hit)),
    )
    writing.catch(() => {})
    copied += page.length
    copying.onCopied(page.length)
  }
  await writing
  await refresh(cluster, [copying.to])
  return copied
}

const itemOf = (copying: Copying, { _id, _version, _source }: Hit): BulkItem => {
  const { index, into } = copying
  const doc = readable(copying, _id, _source)
  return index.kind === 'state'
    ? versionedItem({ index: into, id: _id }, _version, encode(index, doc, _source[AT] as number))
    : createItem(into, _id, encode(index, doc))
}

const readable = ({ index, from }: Pick<Copying, 'index' | 'from'>, id: string, source: Source) => {
  try {
    return decode(index, id, source)
  } catch (error) {
    throw new Failure('conflict', `${from} '${id}' cannot be read: ${String(error)}.`, {
      help: 'First run iostlens verify and iostlens repair with the version that created it.',
    })
  }
}

/** Throws 'conflict' unless both indices have the same documents: each is read back and compared. */
export const compareIndices = async (connection: Connection, copying: Copying): Promise<void> => {
  const { index, from, to, onCompared } = copying
  let met = 0
  for await (const page of pagesOf(connection, copying)) {
    const refs = page.map(({ _id }) => ({ index: to, id: _id }))
    const got = await getMany(connection, refs, { realtime: false })
    for (const [at, { _id, _version, _source }] of page.entries()) {
      const copy = got[at]
      const same =
        copy !== undefined &&
        (index.kind === 'history' || (copy.version === _version && copy.source[AT] === _source[AT])) &&
        Bun.deepEquals(decode(index, _id, copy.source), readable(copying, _id, _source))
      if (!same) throw notSame(`${to} '${_id}' differs from the one in ${from}`)
    }
    met += page.length
    onCompared(page.length)
  }
  const { count } = await ask<{ count: number }>(connection, {
    what: `count ${to}`,
    method: 'GET',
    path: `/${to}/_count`,
  })
  if (count !== met) throw notSame(`${to} has ${count} documents, ${from} has ${met}`)
}

const notSame = (what: string): Failure =>
  new Failure('conflict', `The copy is not complete: ${what}.`, {
    help: 'Another program wrote to one of the two indices. The old indices are still served; run the migration again.',
  })

const pagesOf = async function* (
  connection: Connection,
  { index, from, height, signal }: Copying,
): AsyncGenerator<readonly Hit[]> {
  const query = index.kind === 'state' ? { match_all: {} } : { range: { [HEIGHT]: { lte: height } } }
  const pit = await openPit(connection, [from])
  try {
    for (let after: readonly unknown[] | undefined; ; ) {
      signal.throwIfAborted()
      const { hits } = await pit.search<{ hits: { hits: readonly Hit[] } }>({
        size: PAGE,
        version: true,
        track_total_hits: false,
        sort: [{ _shard_doc: 'asc' }],
        query: { bool: { filter: [query] } },
        ...(after === undefined ? {} : { search_after: after }),
      })
      const last = hits.hits.at(-1)
      if (last === undefined) return
      yield hits.hits
      after = last.sort
    }
  } finally {
    await pit.close().catch(() => {})
  }
}
