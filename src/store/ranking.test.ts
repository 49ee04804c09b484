import { expect, test } from 'bun:test'
import { balances } from '#indices/balance.ts'
import { type Segment, segmentsId } from '#indices/segment.ts'
import { wealth } from '#indices/wealth.ts'
import { kindOf } from '#test/support/refusal.ts'
import { type RankingReads, rankingPage, requireRanking } from './ranking.ts'

const [top, leaf, other] = [0, 9, 5].map(number => segmentsId('wealth', number, '')) as [string, string, string]
/** A ranking of 3,000 members in two leaves. */
const stored: Readonly<Record<string, readonly Segment[]>> = {
  [top]: [
    ['', '', 1_200, 5],
    ['77', 'm', 1_800, 9],
  ],
  [other]: [['', '', 1_200]],
  [leaf]: [['77', 'm', 1_800]],
}
const richest = { index: wealth, order: 'richest' }

/** Reads that find no rows, and the ids of the segments that they read. */
function openReads(segments = stored) {
  const asked: (readonly string[])[] = []
  const hints = new Map<string, readonly Segment[]>()
  const reads: RankingReads<typeof wealth> = {
    segments: async ids => {
      asked.push(ids)
      return ids.map(id => segments[id] && { id, segments: segments[id] })
    },
    rows: async () => [],
    hints,
  }
  return { asked, hints, reads }
}

test('rankingPage: segments are read twice without hints, and once if a hint still leads to the leaf', async () => {
  const { asked, hints, reads } = openReads()
  await rankingPage(reads, richest, { offset: 2_500, limit: 10 })
  expect(asked.splice(0)).toEqual([[top], [leaf]])
  await rankingPage(reads, richest, { offset: 2_600, limit: 10 })
  expect(asked.splice(0)).toEqual([[top, leaf]])
  // The root has changed meanwhile: the hint leads to the wrong one, and a second request reads the right leaf.
  hints.set(top, [['', '', 3_000, 5]])
  await rankingPage(reads, richest, { offset: 2_600, limit: 10 })
  expect(asked.splice(0)).toEqual([[top, other], [leaf]])
})

test('rankingPage: a leaf with fewer members than its root records is damage', async () => {
  const { reads } = openReads({ ...stored, [leaf]: [['77', 'm', 3]] })
  expect(await kindOf(rankingPage(reads, richest, { offset: 2_500, limit: 1 }))).toBe('damaged')
})

test('rankingPage: impossible counts, and a missing or superfluous group, are defects', async () => {
  const { reads } = openReads()
  for (const wrong of [{ offset: -1 }, { limit: 0.5 }, { group: 'a' }])
    expect(await kindOf(rankingPage(reads, richest, { offset: 0, limit: 1, ...wrong }))).toBe('defect')
  expect(() => requireRanking({ index: balances, order: 'holders' })).toThrow('needs a group')
})
