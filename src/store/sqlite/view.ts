import { Failure } from '#failure/failure.ts'
import type { DocOf, Index } from '#indices/define.ts'
import { segments } from '#indices/segment.ts'
import { type BoundedCache, boundedCache, countDocCharacters } from '#store/bounded-cache.ts'
import type { Published, View } from '#store/port.ts'
import { requireRanking, rowsOfPage } from '#store/ranking.ts'
import { yieldEventLoop } from '#time/clock.ts'
import type { SqliteConnection } from './connection.ts'
import { getPublished, isUnderRepair } from './meta.ts'
import {
  findByField,
  getById,
  namedRows,
  rankedRows,
  selectListRecords,
  selectMoments,
  selectNewRecords,
} from './read.ts'

/** The cached state of a connection for one version of the file. */
export type ReadState = {
  readonly at: Published
  readonly isUnderRepair: boolean
  /** State documents by index and id; undefined: no document has that id. */
  readonly docs: BoundedCache<object | undefined>
}

/** The state in the current transaction; undefined: nothing is published. */
export function readState(connection: SqliteConnection): ReadState | undefined {
  const at = getPublished(connection)
  // This many characters take some 2 MB, or 15 MB if all are lists of short lists.
  return at && { at, isUnderRepair: isUnderRepair(connection), docs: boundedCache(500_000) }
}

function createReadGuard() {
  let ended: (() => Failure) | undefined
  let since = performance.now()
  const wait = async (): Promise<void> => {
    await yieldEventLoop()
    since = performance.now()
    await turn()
  }
  /** Waits until the next read may begin, if it must. Throws the reason for which the view has ended. */
  const turn = (): Promise<void> | undefined => {
    if (ended !== undefined) throw ended()
    // If reads did not yield, nothing else would run, deadlines included, because reads never wait.
    return performance.now() - since > 10 ? wait() : undefined
  }
  /** Ends the view: every later call throws the first `reason`, because it must not read another snapshot. */
  const end = (reason: () => Failure): void => {
    ended ??= reason
  }
  return { turn, end }
}

function readDocument(
  {
    connection,
    docs,
    isDamaged,
  }: Pick<ReadState, 'docs'> & { readonly connection: SqliteConnection; readonly isDamaged: boolean },
  index: Index,
  id: string,
): object | undefined {
  if (isDamaged)
    try {
      return getById(connection, index, id)
    } catch (error) {
      // A damaged document counts as absent for this reader alone, so it is not cached.
      if (error instanceof Failure && error.kind === 'damaged') return undefined
      throw error
    }
  const key = index.kind === 'history' ? undefined : `${index.name}/${id}`
  const known = key === undefined ? undefined : docs.get(key)
  if (known !== undefined) return known.value
  const doc = getById(connection, index, id)
  if (key !== undefined) docs.put(key, doc, countDocCharacters(doc))
  return doc
}

/**
 * The view of a connection in a read transaction: one snapshot, independent of later commits. `isDamaged`: a
 * document that cannot be read counts as absent.
 */
export function createSqliteView(
  connection: SqliteConnection,
  { at, docs }: ReadState,
  { isDamaged, release }: Pick<View, 'release'> & { readonly isDamaged: boolean },
) {
  const { turn, end } = createReadGuard()
  const from = { connection, docs, isDamaged }
  // Rows of an index's table are its documents: the cast is safe, because `toDoc` uses the same definition.
  const find = <I extends Index>(index: I, field: string, value: bigint) =>
    findByField(connection, index, { field, value }) as readonly DocOf<I>[]
  const view: View = {
    at,
    release,
    ...(isDamaged ? {} : { edition: docs }),
    get: async (index, id) => {
      await turn()
      return readDocument(from, index, id) as DocOf<typeof index> | undefined
    },
    getMany: async (index, ids) => {
      await turn()
      return ids.map(id => readDocument(from, index, id) as DocOf<typeof index> | undefined)
    },
    find: async (index, field, value) => {
      await turn()
      return find(index, field, value)
    },
    findAny: async (index, field, values) => {
      await turn()
      return values.flatMap(value => find(index, field, value)).toSorted((a, b) => (a.id < b.id ? -1 : 1))
    },
    startingWith: async <I extends Index>(index: I, text: string, limit: number) => {
      await turn()
      return namedRows(connection, index, { text, limit }) as readonly DocOf<I>[]
    },
    page: async (index, order, options) => {
      const ranking = requireRanking({ index, order, group: options.group })
      const rows = await rowsOfPage({ segments: ids => view.getMany(segments, ids) }, ranking, options)
      await turn()
      return rows === undefined ? [] : rankedRows(connection, ranking, rows)
    },
    records: async (list, first, last) => {
      await turn()
      return selectListRecords(connection, list, { first, last })
    },
    newRecords: async (lists, height) => {
      await turn()
      return selectNewRecords(connection, lists, height)
    },
    moments: async (list, ordinals) => {
      await turn()
      return selectMoments(connection, list, ordinals)
    },
  }
  return { view, end }
}
