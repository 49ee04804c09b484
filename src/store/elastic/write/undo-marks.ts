import { isCount } from '#store/published-from.ts'
import { KEPT } from '#store/undo.ts'

/** From which stamp on batches are kept that can be taken back, and how much they take until the next mark. */
export type Mark = readonly [stamp: number, bytes: number]

/** Whether these are marks, as they were stored: one at least, their stamps ascending. */
export const areMarks = (value: unknown): value is readonly Mark[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every(
    (mark, at) =>
      Array.isArray(mark) &&
      mark.length === 2 &&
      mark.every(isCount) &&
      (at === 0 || Number(mark[0]) > Number(value[at - 1]?.[0])),
  )

/** Marks between the oldest and the newest batch: what is forgotten is forgotten by so much. */
const MARKS = 16

/** The marks with one batch more, the oldest ones without what is beyond the bounds. */
export const keptWith = (marks: readonly Mark[], stamp: number, bytes: number): readonly Mark[] => {
  const last = marks.at(-1)
  const opens = last === undefined || last[1] >= KEPT.bytes / MARKS || stamp - last[0] >= KEPT.heights / MARKS
  const next: Mark[] = opens
    ? [...marks, [stamp, bytes]]
    : [...marks.slice(0, -1), [last[0], last[1] + bytes]]
  const total = () => next.reduce((sum, [, each]) => sum + each, 0)
  while (next.length > 1 && (total() > KEPT.bytes || stamp - (next[1]?.[0] ?? stamp) >= KEPT.heights))
    next.shift()
  return next
}
