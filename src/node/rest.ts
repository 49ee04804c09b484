import type { Backoff } from '#time/backoff.ts'

/** Rests of a node that does not answer: long enough to spare it, short enough to notice its return. */
export const REST: Backoff = { firstMs: 250, longestMs: 10_000 }
