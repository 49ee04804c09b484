import { placeOf } from '#indices/list.ts'
import type { RecordDoc } from '#indices/record.ts'

/** Places per search: an index returns at most 10,000 hits, some of which prove that the copy is current. */
const MOST_PLACES = 9_000
/** Maximum rows of one list per search; a list usually has a few new ones. */
const MOST_OF_LIST = 64
/** Two, so that the row after a missing one reveals it. */
const LEAST_OF_LIST = 2

/** The rows with one of the places, each row once; places without a row at this height are omitted. */
type RowsAt = (places: readonly bigint[]) => Promise<readonly RecordDoc[]>

/**
 * `View.newRecords` by places alone, the only field by which rows are found: looks up the next places of each
 * list, and further places of the lists that had all of them.
 */
export const newRecordsOf = async (
  lists: ReadonlyMap<number, number>,
  height: number,
  rowsAt: RowsAt,
): Promise<readonly RecordDoc[]> => {
  const found = new Map<string, RecordDoc>()
  let open: (readonly [list: number, after: number])[] = [...lists]
  while (open.length > 0) {
    const each = Math.min(MOST_OF_LIST, Math.max(LEAST_OF_LIST, Math.floor(MOST_PLACES / open.length)))
    const further: (readonly [number, number])[] = []
    const atOnce = Math.floor(MOST_PLACES / each)
    for (let from = 0; from < open.length; from += atOnce) {
      const part = open.slice(from, from + atOnce)
      const rows = await rowsAt(part.flatMap(([list, after]) => placesAfter(list, after, each)))
      for (const row of rows) found.set(row.id, row)
      const seen = new Set(rows.flatMap(({ places }) => places))
      for (const [list, after] of part) {
        const count = placesAfter(list, after, each).filter(place => seen.has(place)).length
        if (count === each) further.push([list, after + each])
      }
    }
    open = further
  }
  return [...found.values()]
    .filter(row => row.height > height)
    .toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
}

const placesAfter = (list: number, after: number, count: number): readonly bigint[] =>
  Array.from({ length: count }, (_, at) => placeOf(list, after + 1 + at))
