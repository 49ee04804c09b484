import type { ListDoc } from '#indices/list.ts'
import type { ListedRecord } from '#indices/record.ts'
import { missingData } from '#store/failures.ts'
import type { View } from '#store/port.ts'

/** Rows `first` … `last` of a list, by ordinals from 1, inclusive. */
export type Run = { readonly list: ListDoc; readonly first: number; readonly last: number }

/** A row, with the numbers of the runs that contain it. */
export type Merged = { readonly doc: ListedRecord; readonly runs: readonly number[] }

/** The rows of some runs by position, without duplicates. It is immutable, so a read can be retried without loss. */
export type Merge = {
  /** The next rows, at most `limit`, and the remainder after them. */
  readonly next: (view: View, limit: number) => Promise<{ readonly rows: readonly Merged[]; readonly rest: Merge }>
  readonly isOver: boolean
}

/** Maximum and minimum number of rows read from one list at once. */
const MAX_ROWS = 1_000
const LEAST_ROWS = 16

/** A run with its buffer of rows that were read but not yet returned, and the range that is still to be read. */
type Reading = {
  readonly list: ListDoc
  first: number
  last: number
  rows: readonly ListedRecord[]
  at: number
}

const isRead = ({ first, last, rows, at }: Readonly<Reading>): boolean => at >= rows.length && first > last

export const createMerge = (runs: readonly Run[], sort: 'asc' | 'desc'): Merge =>
  continueMerge(
    runs.map(run => ({ ...run, rows: [], at: 0 })),
    sort,
  )

const continueMerge = (before: readonly Readonly<Reading>[], sort: 'asc' | 'desc'): Merge => ({
  next: async (view, limit) => {
    const readings = before.map((reading): Reading => ({ ...reading }))
    const rows: Merged[] = []
    while (rows.length < limit) {
      const chunk = computeChunkSize(limit - rows.length, readings.filter(reading => !isRead(reading)).length)
      await Promise.all(readings.map(reading => readChunk(view, reading, { sort, chunk })))
      const row = takeFirst(readings, sort)
      if (row === undefined) break
      rows.push(row)
    }
    return { rows, rest: continueMerge(readings, sort) }
  },
  isOver: before.every(isRead),
})

/** Rows to read from each run: about twice its share of the rows wanted, or exactly those if there is one run. */
const computeChunkSize = (wanted: number, runs: number): number =>
  runs < 2 ? Math.min(MAX_ROWS, wanted) : Math.min(MAX_ROWS, Math.max(LEAST_ROWS, Math.ceil((2 * wanted) / runs)))

/** Reads more rows when the buffer is empty. */
async function readChunk(
  view: View,
  reading: Reading,
  { sort, chunk }: { readonly sort: 'asc' | 'desc'; readonly chunk: number },
): Promise<void> {
  const { list, first, last, rows, at } = reading
  if (at < rows.length || first > last) return
  const count = Math.min(chunk, last - first + 1)
  const [from, to] = sort === 'asc' ? [first, first + count - 1] : [last - count + 1, last]
  const docs = await view.records(list, from, to)
  if (docs.length !== count) throw missingData(`List ${list.id} has ${docs.length} of its rows ${from} to ${to}.`)
  reading.rows = sort === 'asc' ? docs : docs.toReversed()
  reading.at = 0
  if (sort === 'asc') reading.first = to + 1
  else reading.last = from - 1
}

/** The first buffered row in order, removed from every run that contains it. */
function takeFirst(readings: readonly Reading[], sort: 'asc' | 'desc'): Merged | undefined {
  let doc: ListedRecord | undefined
  let runs: number[] = []
  for (const [number, { rows, at }] of readings.entries()) {
    const row = rows[at]
    if (row === undefined) continue
    if (row.id === doc?.id) runs.push(number)
    else if (doc === undefined || (sort === 'asc' ? row.id < doc.id : row.id > doc.id)) {
      doc = row
      runs = [number]
    }
  }
  for (const number of runs) {
    const reading = readings[number]
    if (reading !== undefined) reading.at += 1
  }
  return doc && { doc, runs }
}
