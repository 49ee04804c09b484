import { Failure } from '#failure/failure.ts'
import type { DocOf, Index } from '#indices/define.ts'
import { segments } from '#indices/segment.ts'
import { charactersOf } from '#store/bounded-cache.ts'
import type { View } from '#store/port.ts'
import { rankingPage } from '#store/ranking-page.ts'
import type { Connection } from './connection.ts'
import { toFailure } from './failures.ts'
import { namedRows } from './names.ts'
import { rankedRows } from './rank.ts'
import { findByField, getById, momentsOf, newRecordsOf, recordsOf } from './read.ts'
import type { ReadState } from './read-state.ts'

export type Viewing = {
  readonly view: View
  /** After this every call on the view throws `reason`: it must not read another snapshot. */
  readonly end: (reason: () => Failure) => void
}

/**
 * Reads go on for so long before others get their turn: no read waits by itself, so nothing else would, deadlines
 * included.
 */
const SLICE_MS = 10

/**
 * The view of a connection that is in a read transaction: one snapshot, whatever is committed meanwhile. `isDamaged`: a
 * document that cannot be read counts as none.
 */
export const viewOf = (
  connection: Connection,
  name: string,
  { at, docs, isDamaged }: ReadState & { readonly isDamaged: boolean },
): Viewing => {
  let ended: (() => Failure) | undefined
  let since = performance.now()
  const run = async <T>(work: () => T): Promise<T> => {
    if (performance.now() - since > SLICE_MS) {
      await new Promise<void>(resolve => setImmediate(resolve))
      since = performance.now()
    }
    if (ended !== undefined) throw ended()
    try {
      return work()
    } catch (error) {
      throw toFailure(name, error)
    }
  }
  // Rows of the table of an index are its documents: `as` of what `toDoc` made by the same definition.
  const stored = (index: Index, id: string): object | undefined => {
    try {
      return getById(connection, index, id)
    } catch (error) {
      if (isDamaged && error instanceof Failure && error.kind === 'damaged') return undefined
      throw error
    }
  }
  const get = <I extends Index>(index: I, id: string): DocOf<I> | undefined => {
    // What counts as none here does not for others, who share what is kept.
    if (index.kind === 'history' || isDamaged) return stored(index, id) as DocOf<I> | undefined
    const key = `${index.name}/${id}`
    const known = docs.get(key)
    const doc = known === undefined ? getById(connection, index, id) : known.value
    if (known === undefined) docs.put(key, doc, charactersOf(doc))
    return doc as DocOf<I> | undefined
  }
  return {
    view: {
      at,
      ...(isDamaged ? {} : { edition: docs }),
      get: (index, id) => run(() => get(index, id)),
      getMany: (index, ids) => run(() => ids.map(id => get(index, id))),
      find: <I extends Index>(index: I, field: string, value: bigint) =>
        run(() => findByField(connection, index, { field, value }) as readonly DocOf<I>[]),
      startingWith: <I extends Index>(index: I, text: string, limit: number) =>
        run(() => namedRows(connection, index, { text, limit }) as readonly DocOf<I>[]),
      findAny: <I extends Index>(index: I, field: string, values: readonly bigint[]) =>
        run(() => {
          const docs = values.flatMap(value => findByField(connection, index, { field, value }))
          return (docs as readonly DocOf<I>[]).toSorted((a, b) => (a.id < b.id ? -1 : 1))
        }),
      page: (index, order, options) =>
        rankingPage(
          {
            segments: ids => run(() => ids.map(id => get(segments, id))),
            rows: (ranking, rows) => run(() => rankedRows(connection, ranking, rows)),
          },
          { index, order },
          options,
        ),
      records: (list, first, last) => run(() => recordsOf(connection, list, { first, last })),
      newRecords: (lists, height) => run(() => newRecordsOf(connection, lists, height)),
      moments: (list, ordinals) => run(() => momentsOf(connection, list, ordinals)),
    },
    end: reason => {
      ended = reason
    },
  }
}
