import { UNDO_LIMITS } from '../../batch.ts'
import type { Mark } from '../schema/checkpoint-record.ts'

/** Number of marks between the oldest and the newest batch; records are dropped one mark at a time. */
const MARKS = 16

/** The marks with one more batch, without the oldest marks beyond the bounds. */
export const withMark = (marks: readonly Mark[], stamp: number, bytes: number): readonly Mark[] => {
  const last = marks.at(-1)
  const opens =
    last === undefined || last[1] >= UNDO_LIMITS.bytes / MARKS || stamp - last[0] >= UNDO_LIMITS.heights / MARKS
  const next: Mark[] = opens ? [...marks, [stamp, bytes]] : [...marks.slice(0, -1), [last[0], last[1] + bytes]]
  const total = () => next.reduce((sum, [, each]) => sum + each, 0)
  while (next.length > 1 && (total() > UNDO_LIMITS.bytes || stamp - (next[1]?.[0] ?? stamp) >= UNDO_LIMITS.heights))
    next.shift()
  return next
}
