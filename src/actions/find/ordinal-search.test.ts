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

/** Counts of rows below each of some bounds, and the number of rows that each look read. */
async function countsBelow({ count, at, ceiling = Number.POSITIVE_INFINITY }: Heights, bounds: readonly number[]) {
  const asked: number[] = []
  const look = async (ordinals: readonly number[]) => {
    expect(ordinals).toEqual([...new Set(ordinals)].toSorted((a, b) => a - b))
    expect(ordinals.every(ordinal => ordinal >= 1 && ordinal <= count)).toBe(true)
    asked.push(ordinals.length)
    return ordinals.map(at)
  }
  const passes = bounds.map(bound => (height: number) => height < bound)
  return { counts: await countPassing<number>({ count, floor: -1, ceiling, look }, passes), asked }
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
    { numRuns: 200 },
  ))

/** 10^7 rows in bursts: a thousand in every seventh block, none between. */
const BURSTS = { count: 10_000_000, at: (ordinal: number) => Math.floor((ordinal - 1) / 1000) * 7 }
const belowIn = (bound: number) => Math.min(Math.ceil(bound / 7), 10_000) * 1000

test('countPassing: two bounds of ten million rows take at most 6 looks', () =>
  fc.assert(
    fc.asyncProperty(fc.nat({ max: 70_000 }), fc.nat({ max: 70_000 }), async (start, end) => {
      const { counts, asked } = await countsBelow(BURSTS, [start, end])
      expect(counts).toEqual([belowIn(start), belowIn(end)])
      expect(asked.length).toBeLessThanOrEqual(6)
    }),
  ))

test('countPassing: 93 bounds of ten million rows take at most 9 looks at any positions', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat({ max: 70_000 }), { minLength: 93, maxLength: 93 }),
      fc.integer({ min: 1, max: 70_000 }),
      async (anywhere, first) => {
        for (const bounds of [anywhere, anywhere.map((_, at) => first + at)]) {
          const { counts, asked } = await countsBelow(BURSTS, bounds)
          expect(counts).toEqual(bounds.map(belowIn))
          expect(asked.length).toBeLessThanOrEqual(9)
        }
      },
    ),
    { numRuns: 30 },
  ))

const EACH = { count: 10_000_000, at: (ordinal: number) => ordinal, ceiling: 70_000_000 }
const CLOSED = { ...BURSTS, ceiling: 70_000 }

test.each([
  // One bound of ten million rows, and two of 2^32.
  [EACH, [7_654_321, 70_000_001], [7_654_320, 10_000_000], 5],
  [{ count: 2 ** 32 - 1, at: EACH.at }, [3_999_999_999, 4_111_111_112], [3_999_999_998, 4_111_111_111], 8],
  // No look is needed when the ends decide, and one for a bound beyond the first or last row.
  [CLOSED, [-1, 80_001], [0, 10_000_000], 0],
  [CLOSED, [80_000, -1], [10_000_000, 0], 0],
  [BURSTS, [75_000, 76_001], [10_000_000, 10_000_000], 1],
  [{ ...BURSTS, at: (ordinal: number) => ordinal + 100 }, [50, 61], [0, 0], 1],
  [{ ...BURSTS, count: 0 }, [1, 3], [0, 0], 0],
] as readonly (readonly [Heights, readonly number[], readonly number[], number])[])(
  'countPassing: in %p below %p are %p, in at most %d looks',
  async (...[heights, bounds, expected, looks]) => {
    const { counts, asked } = await countsBelow(heights, bounds)
    expect(counts).toEqual([...expected])
    expect(asked.length).toBeLessThanOrEqual(looks)
  },
)
