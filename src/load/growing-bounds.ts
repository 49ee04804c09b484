import type { BatchBounds } from '#store/batch.ts'

const GROWTH = 4

/**
 * The bounds of one batch after the other: a small first one, since what is stored soon shows soon that the load works, and
 * each `GROWTH` times as large as the one before.
 */
export const growingBounds = (full: BatchBounds): (() => BatchBounds) => {
  if (full.first === undefined) return () => full
  let share = full.first / full.documents
  return () => {
    const part = share
    share *= GROWTH
    if (part >= 1) return full
    const { documents, bytes, changes, chunk } = full
    return {
      documents: Math.ceil(documents * part),
      bytes: Math.ceil(bytes * part),
      ...(changes === undefined ? {} : { changes: Math.ceil(changes * part) }),
      ...(chunk === undefined ? {} : { chunk }),
    }
  }
}
