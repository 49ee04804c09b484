import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { countPassing } from './ordinal-search.ts'

/** The heights of a list's rows. */
type Heights = {
  readonly count: number
  readonly at: (ordinal: number) => number
  /** Upper bound of the heights. */
  readonly ceiling?: number
}

/** Counts of rows below `start` and up to `end`, and the ordinals of each look. */
async function countsIn(heights: Heights, start: number, end: number) {
  const { ceiling = Number.POSITIVE_INFINITY } = heights
  const asked: (readonly number[])[] = []
  const look = async (ordinals: readonly number[]) => {
    asked.push(ordinals)
    return ordinals.map(heights.at)
  }
  const counts = await countPassing<number>({ count: heights.count, floor: -1, ceiling, look }, [
    height => height < start,
    height => height <= end,
  ])
  return { counts, asked }
}

test('countPassing: lists with repeated values are counted like by a plain filter', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat({ max: 300 }), { maxLength: 400 }),
      fc.integer({ min: -5, max: 310 }),
      fc.integer({ min: -5, max: 310 }),
      async (unsorted, start, end) => {
        const heights = unsorted.toSorted((a, b) => a - b)
        const { counts, asked } = await countsIn(
          { count: heights.length, at: ordinal => heights[ordinal - 1] ?? Number.NaN },
          start,
          end,
        )
        expect(counts).toEqual([
          heights.filter(height => height < start).length,
          heights.filter(height => height <= end).length,
        ])
        for (const ordinals of asked) {
          expect(ordinals).toEqual([...new Set(ordinals)].toSorted((a, b) => a - b))
          expect(ordinals.length <= 32 && ordinals.length > 0).toBe(true)
          expect(ordinals.every(ordinal => ordinal >= 1 && ordinal <= heights.length)).toBe(true)
        }
      },
    ),
    { numRuns: 500 },
  ))

/** 10^7 rows in bursts: a thousand in every seventh block, none between. */
const BURSTS = { count: 10_000_000, at: (ordinal: number) => Math.floor((ordinal - 1) / 1000) * 7 }
/** The same rows with a known upper bound. */
const CLOSED = { ...BURSTS, ceiling: 70_000 }

test('countPassing: two bounds of ten million rows take at most 6 looks', () =>
  fc.assert(
    fc.asyncProperty(fc.nat({ max: 70_000 }), fc.nat({ max: 70_000 }), async (start, end) => {
      const { counts, asked } = await countsIn(BURSTS, start, end)
      expect(counts).toEqual([
        Math.min(Math.ceil(start / 7), 10_000) * 1000,
        Math.min(Math.floor(end / 7) + 1, 10_000) * 1000,
      ])
      expect(asked.length).toBeLessThanOrEqual(6)
    }),
  ))

test('countPassing: one bound of ten million rows takes at most 5 looks, of 2^32 rows at most 8 for two', async () => {
  const each = { count: 10_000_000, at: (ordinal: number) => ordinal }
  const one = await countsIn({ ...each, ceiling: 70_000_000 }, 7_654_321, 70_000_000)
  expect(one.counts).toEqual([7_654_320, 10_000_000])
  expect(one.asked.length).toBeLessThanOrEqual(5)
  const two = await countsIn({ ...each, count: 2 ** 32 - 1 }, 3_999_999_999, 4_111_111_111)
  expect(two.counts).toEqual([3_999_999_998, 4_111_111_111])
  expect(two.asked.length).toBeLessThanOrEqual(8)
})

test('countPassing: no look is needed when the ends decide, and one for a bound beyond the first or last row', async () => {
  expect(await countsIn(CLOSED, -1, 80_000)).toEqual({ counts: [0, 10_000_000], asked: [] })
  expect(await countsIn(CLOSED, 80_000, -2)).toEqual({ counts: [10_000_000, 0], asked: [] })
  const beyond = await countsIn(BURSTS, 75_000, 76_000)
  expect([beyond.counts, beyond.asked.length]).toEqual([[10_000_000, 10_000_000], 1])
  const before = await countsIn({ ...BURSTS, at: ordinal => ordinal + 100 }, 50, 60)
  expect([before.counts, before.asked.length]).toEqual([[0, 0], 1])
  expect(await countsIn({ ...BURSTS, count: 0 }, 1, 2)).toEqual({ counts: [0, 0], asked: [] })
})

/** Counts of rows below each of some bounds, and the number of rows that each look read. */
async function countsBelow({ count, at }: Heights, bounds: readonly number[]) {
  const asked: number[] = []
  const counts = await countPassing<number>(
    {
      count,
      floor: -1,
      ceiling: Number.POSITIVE_INFINITY,
      look: async ordinals => {
        asked.push(ordinals.length)
        return ordinals.map(at)
      },
    },
    bounds.map(bound => (height: number) => height < bound),
  )
  return { counts, asked }
}

test('countPassing: any number of bounds is counted like by a plain filter, a short list in one look', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat({ max: 2_000 }), { maxLength: 900, size: 'max' }),
      fc.array(fc.integer({ min: -5, max: 2_010 }), { maxLength: 120, size: 'max' }),
      async (unsorted, bounds) => {
        const heights = unsorted.toSorted((a, b) => a - b)
        const at = (ordinal: number) => heights[ordinal - 1] ?? Number.NaN
        const { counts, asked } = await countsBelow({ count: heights.length, at }, bounds)
        expect(counts).toEqual(bounds.map(bound => heights.filter(height => height < bound).length))
        expect(asked.every(rows => rows > 0 && rows <= Math.max(32, 8 * bounds.length))).toBe(true)
        if (heights.length <= Math.max(32, 4 * bounds.filter(bound => bound >= 0).length))
          expect(asked.length).toBeLessThanOrEqual(1)
      },
    ),
    { numRuns: 300 },
  ))

test('countPassing: 93 bounds of ten million rows take at most 9 looks at any positions', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat({ max: 70_000 }), { minLength: 93, maxLength: 93 }),
      fc.integer({ min: 1, max: 70_000 }),
      async (anywhere, first) => {
        for (const bounds of [anywhere, anywhere.map((_, at) => first + at)]) {
          const { counts, asked } = await countsBelow(BURSTS, bounds)
          expect(counts).toEqual(bounds.map(bound => Math.min(Math.ceil(bound / 7), 10_000) * 1000))
          expect(asked.length).toBeLessThanOrEqual(9)
        }
      },
    ),
    { numRuns: 50 },
  ))
