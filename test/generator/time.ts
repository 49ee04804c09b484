import { mix } from './random.ts'

const FIRST_MS = 1_551_052_800_000
const BLOCK_MS = 500

export const blockMs = (height: number): number => FIRST_MS + height * BLOCK_MS

/** The time of a block in nanoseconds since 1970, as the node writes it: late by six digits, below a millisecond. */
export const blockTime = (seed: number, height: number): string =>
  `${blockMs(height)}${100_000 + (mix(seed, 17, height) % 800_000)}`

/** Transactions are signed shortly before their block, and are valid for 90 seconds. */
const BEFORE_MS = 300
const EXPIRES_MS = 90_000

/** Time and expiration of a block's ordinary transactions in nanoseconds since 1970, as the node writes them. */
export function signedTimes(height: number): readonly [time: string, expiration: string] {
  if (height === 0) return ['0', '0']
  const signed = blockMs(height) - BEFORE_MS
  return [`${signed}000000`, `${signed + EXPIRES_MS}000000`]
}
