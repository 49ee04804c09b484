import { placeOf } from '#indices/list.ts'
import type { RecordDoc } from '#indices/record.ts'

/** Places asked for in one search: an index gives at most 10,000 hits, and the documents that prove it are among them. */
const MOST_PLACES = 9_000
/** Rows of one list that are looked for at once; a list has a few new ones as a rule. */
const MOST_OF_LIST = 64
/** So that a row that is missing shows by the one behind it. */
const LEAST_OF_LIST = 2

/** The rows that have one of some places, each row once; places that no row of the height has are left out. */
type RowsAt = (places: readonly bigint[]) => Promise<readonly RecordDoc[]>

/**
 * `View.newRecords` by places alone, which are all that rows are found by: the places that come next in each list are
 * looked up, and further ones of those lists that had all of them.
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
