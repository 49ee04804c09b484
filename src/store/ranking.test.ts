import { describe, expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import { balanceId, balances } from '#indices/balance.ts'
import { type Segment, segmentsId } from '#indices/segment.ts'
import { memberId } from '#indices/standing.ts'
import { voteId } from '#indices/vote.ts'
import { wealth } from '#indices/wealth.ts'
import { type PageOptions, type RankingReads, type RankingRows, rankingPage } from './ranking.ts'

/** A ranking of 3,000 members: two leaves, cut after 600, 1,200 and 2,000 members; one amount fills the third segment. */
const root: readonly Segment[] = [
  ['', '', 1_200, 5],
  ['77', 'm', 1_800, 9],
]
const leaves: Readonly<Record<number, readonly Segment[]>> = {
  5: [
    ['', '', 600],
    ['90', 'c', 600],
  ],
  9: [
    ['77', 'm', 800],
    ['77', 's', 1_000],
  ],
}

type Stored = ReadonlyMap<string, readonly Segment[]>
const whole: Stored = new Map([
  [segmentsId('wealth', 0, ''), root],
  ...Object.entries(leaves).map(([leaf, list]) => [segmentsId('wealth', Number(leaf), ''), list] as const),
])

/** Reads that record their arguments and find no rows. */
function noted(stored: Stored) {
  const asked: { segments: (readonly string[])[]; rows: RankingRows[] } = { segments: [], rows: [] }
  const reads: RankingReads<typeof wealth> = {
    segments: async ids => {
      asked.segments.push(ids)
      return ids.map(id => {
        const list = stored.get(id)
        return list && { id, segments: list }
      })
    },
    rows: async (_, rows) => {
      asked.rows.push(rows)
      return []
    },
  }
  return { asked, reads }
}
const richest = { index: wealth, order: 'richest' }
async function pageOf(stored: Stored, options: PageOptions) {
  const { asked, reads } = noted(stored)
  expect(await rankingPage(reads, richest, options)).toEqual([])
  return asked
}
const kindOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof Failure ? error.kind : String(error)),
  )

test('memberId: every index with a counted order has ids for its members', () => {
  expect([memberId('coin', 'alice'), memberId('node', 'alice')]).toEqual([
    balanceId('coin', 'alice'),
    voteId('node', 'alice'),
  ])
  expect(memberId(undefined, 'alice')).toBe('alice')
})

describe('rankingPage', () => {
  test('a page near the top is read at once', async () => {
    expect(await pageOf(whole, { offset: 128, limit: 10 })).toEqual({
      segments: [],
      rows: [{ skip: 128, limit: 10 }],
    })
  })

  test('a deep page begins at the segment of its first row, with an upper bound for its end', async () => {
    const cases = [
      [599, 2, { tied: 0, until: { amount: 77n, name: 'm' } }, 599],
      [600, 600, { after: { amount: 90n, name: 'c' }, tied: 600, until: { amount: 77n, name: 'm' } }, 0],
      [1_199, 2, { after: { amount: 90n, name: 'c' }, tied: 600 }, 599],
      // The tie began before this leaf, at most as far up as the previous segment reaches.
      [1_201, 5, { after: { amount: 77n, name: 'm' }, tied: 1_200, until: { amount: 77n, name: 's' } }, 1],
      [2_999, 9, { after: { amount: 77n, name: 's' }, tied: 2_000 }, 999],
    ] as const
    for (const [offset, limit, range, skip] of cases) {
      const { rows } = await pageOf(whole, { offset, limit })
      expect(rows).toEqual([{ range, skip, limit }])
    }
  })

  test('segments are read twice without hints, and once if a hint still leads to the leaf', async () => {
    const { asked, reads } = noted(whole)
    const hinted = { ...reads, hints: new Map() }
    const [top, leaf, other] = [0, 9, 5].map(number => segmentsId('wealth', number, ''))
    await rankingPage(hinted, richest, { offset: 2_500, limit: 10 })
    expect(asked.segments.splice(0)).toEqual([[top], [leaf]] as never)
    await rankingPage(hinted, richest, { offset: 2_600, limit: 10 })
    expect(asked.segments.splice(0)).toEqual([[top, leaf]] as never)
    // The root has changed meanwhile: the hint leads to the wrong one, and a second request reads the right leaf.
    hinted.hints.set(top ?? '', [['', '', 3_000, 5]])
    await rankingPage(hinted, richest, { offset: 2_600, limit: 10 })
    expect(asked.segments.splice(0)).toEqual([[top, other], [leaf]] as never)
  })

  test('nothing is read beyond the last member, and a group without segments is read from its top', async () => {
    expect((await pageOf(whole, { offset: 3_000, limit: 10 })).rows).toEqual([])
    for (const stored of [new Map(), new Map([[segmentsId('wealth', 0, ''), []]])])
      expect((await pageOf(stored, { offset: 700, limit: 3 })).rows).toEqual([{ skip: 700, limit: 3 }])
  })

  test('a missing leaf, or one with fewer members than its root records, is damage', async () => {
    const torn = new Map(whole)
    torn.delete(segmentsId('wealth', 9, ''))
    const short = new Map(whole).set(segmentsId('wealth', 9, ''), [['77', 'm', 3]])
    for (const stored of [torn, short])
      expect(await kindOf(pageOf(stored, { offset: 2_500, limit: 1 }))).toBe('damaged')
  })

  test('impossible orders, groups and counts are defects', async () => {
    const { reads } = noted(whole)
    const wrong = [
      rankingPage(reads, { index: wealth, order: 'poorest' }, { offset: 0, limit: 1 }),
      rankingPage(reads, richest, { group: 'a', offset: 0, limit: 1 }),
      rankingPage(reads, richest, { offset: -1, limit: 1 }),
      rankingPage(reads, richest, { offset: 0, limit: 0.5 }),
      rankingPage<typeof balances>(
        { segments: reads.segments, rows: async () => [] },
        { index: balances, order: 'holders' },
        { offset: 0, limit: 1 },
      ),
    ]
    expect(await Promise.all(wrong.map(kindOf))).toEqual(wrong.map(() => 'defect'))
  })
})
