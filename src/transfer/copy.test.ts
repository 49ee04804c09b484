import { expect, test } from 'bun:test'
import { seeded, seedOf } from '#test/support/seeded.ts'
import { findListStarts } from './copy.ts'

const SEED = seedOf(31)

/** The expected starts, by a scan of every row. */
const plainStarts = (firsts: readonly number[], heights: readonly number[]) =>
  firsts.flatMap((first, partition) => {
    const end = firsts[partition + 1] ?? Number.POSITIVE_INFINITY
    const at = heights.findIndex(height => height >= first && height < end)
    return at < 0 ? [] : [[partition, at + 1]]
  })

test('starts: the result equals that of a scan of every row, for any list and any partitions', async () => {
  const random = seeded(SEED)
  const below = (most: number): number => Math.floor(random() * most)
  for (let round = 0; round < 300; round++) {
    const heights = Array.from({ length: 1 + below(round % 3 === 0 ? 5 : 400) }, () => below(1_000)).sort(
      (a, b) => a - b,
    )
    const firsts = [0, ...new Set(Array.from({ length: below(6) }, () => 1 + below(1_000)))].sort((a, b) => a - b)
    const list = { id: 'list', number: 1, count: heights.length, starts: [] }
    const found = await findListStarts(firsts, list, async ordinals =>
      ordinals.map(ordinal => ({ height: heights[ordinal - 1] ?? Number.NaN })),
    )
    expect([SEED, round, found]).toEqual([SEED, round, plainStarts(firsts, heights) as never])
  }
})
