import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { UNDO_LIMITS } from '../../batch.ts'
import type { Mark } from '../schema/checkpoint-record.ts'
import { withMark } from './undo-marks.ts'

test('withMark: marks are bounded in number, bytes and heights, and all that fit are kept', () => {
  const batch = fc.tuple(fc.integer({ min: 1, max: 4_000 }), fc.integer({ min: 0, max: UNDO_LIMITS.batchBytes }))
  fc.assert(
    fc.property(fc.array(batch, { minLength: 1, maxLength: 200 }), batches => {
      let marks: readonly Mark[] = []
      let stamp = 0
      let all = 0
      for (const [blocks, bytes] of batches) {
        stamp += blocks
        all += bytes
        marks = withMark(marks, stamp, bytes)
        const kept = marks.reduce((sum, [, each]) => sum + each, 0)
        expect(marks.length).toBeLessThan(40)
        if (marks.length > 1) expect(kept).toBeLessThanOrEqual(UNDO_LIMITS.bytes)
        // At most a sixteenth and one batch are dropped too early.
        if (stamp < UNDO_LIMITS.heights)
          expect(kept).toBeGreaterThanOrEqual(Math.min(all, UNDO_LIMITS.bytes * (15 / 16) - 2 * UNDO_LIMITS.batchBytes))
        expect(marks.at(-1)?.[0]).toBeLessThanOrEqual(stamp)
      }
    }),
  )
})
