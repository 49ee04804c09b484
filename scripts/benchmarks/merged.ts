import type { Bench, Served } from './bench.ts'
import { calm } from './elastic.ts'
import type { Floor } from './floors.ts'
import { fixed } from './measure.ts'
import { pagesSection } from './pages.ts'
import { transactionsSection } from './transactions.ts'

/** Pages and transactions once more, of history as `indices merge` leaves finished partitions: one segment each. */
export const mergedSection = async (
  bench: Bench,
  served: Served,
  floors: readonly [Floor, Floor],
): Promise<string> => {
  const { elastic, prefix } = bench
  const start = performance.now()
  for (const index of ['records', 'transactions'])
    await elastic.send('POST', `/${prefix}-fill-${index}/_forcemerge?max_num_segments=1`)
  const seconds = (performance.now() - start) / 1_000
  await calm(elastic, `${prefix}-fill-*`)
  const merged: Served = { ...served, name: 'Elasticsearch merged' }
  return [
    `Merged to one segment each in ${fixed(seconds, 0)} s.`,
    await pagesSection(bench, merged, floors),
    await transactionsSection(bench, merged, floors),
  ].join('\n\n')
}
