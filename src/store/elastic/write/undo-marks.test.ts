import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { KEPT } from '../../batch.ts'
import type { Mark } from '../schema/checkpoint-record.ts'
import { keptWith } from './undo-marks.ts'

test('keptWith: bounded in number, bytes and heights, and never short of what fits', () => {
  const batch = fc.tuple(fc.integer({ min: 1, max: 4_000 }), fc.integer({ min: 0, max: KEPT.batchBytes }))
  fc.assert(
    fc.property(fc.array(batch, { minLength: 1, maxLength: 200 }), batches => {
      let marks: readonly Mark[] = []
      let stamp = 0
      let all = 0
      for (const [blocks, bytes] of batches) {
        stamp += blocks
        all += bytes
        marks = keptWith(marks, stamp, bytes)
        const kept = marks.reduce((sum, [, each]) => sum + each, 0)
        expect(marks.length).toBeLessThan(40)
        if (marks.length > 1) expect(kept).toBeLessThanOrEqual(KEPT.bytes)
        // At most a sixteenth and one batch are dropped too early.
        if (stamp < KEPT.heights)
          expect(kept).toBeGreaterThanOrEqual(Math.min(all, KEPT.bytes * (15 / 16) - 2 * KEPT.batchBytes))
        expect(marks.at(-1)?.[0]).toBeLessThanOrEqual(stamp)
      }
    }),
  )
})
