import { missingData } from '#store/failures.ts'
import type { View } from '#store/port.ts'
import { type Listing, type Parts, ROWS_AT_ONCE } from '../find/listing.ts'

/**
 * Results of the jobs 0 … `count` − 1, in order. While one is used, up to `most` further jobs are running.
 * The first failure ends the sequence; jobs that are still running are not cancelled.
 */
export const prefetchResults = async function* <T>(
  { count, most }: { readonly count: number; readonly most: number },
  start: (job: number) => Promise<T>,
): AsyncGenerator<T, void, void> {
  const underWay: Promise<T>[] = []
  let started = 0
  for (let at = 0; at < count; at++) {
    for (; started < count && started <= at + most; started++) {
      const job = start(started)
      // A failure is reported in its turn, and ignored if the caller has stopped.
      job.catch(() => undefined)
      underWay.push(job)
    }
    yield (await underWay.shift()) as T
  }
}

/**
 * One read of documents after the first `offset` of a list, in parts that fit in memory. `total`: the number of rows of
 * the list, or of the range wanted. Throws Failure when the store has fewer rows than the list counts.
 */
export async function readParts<D>(
  view: View,
  { docs: docsOf, parts = docs => ({ ahead: docs, later: [] }) }: Listing<D>,
  { offset, total }: { readonly offset: number; readonly total: number },
): Promise<Parts<D>> {
  const limit = Math.min(ROWS_AT_ONCE, total - offset)
  const docs = await docsOf(view, offset, limit)
  if (docs.length !== limit)
    throw missingData(`A list of ${total} rows has ${docs.length} of those from ${offset + 1} to ${offset + limit}.`)
  return parts(docs)
}
