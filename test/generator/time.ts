import { mix } from './random.ts'

const FIRST_MS = 1_551_052_800_000
const BLOCK_MS = 500
/** Blocks begin so many nanoseconds late: always six digits, below a millisecond. */
const LEAST_LATE = 100_000
const MOST_LATE = 900_000
const NS_PER_MS = 1_000_000
const WORD = 65_536

export const blockMs = (height: number): number => FIRST_MS + height * BLOCK_MS

const lateNs = (seed: number, height: number): number =>
  LEAST_LATE + (mix(seed, 17, height) % (MOST_LATE - LEAST_LATE))

/** Time of a block, nanoseconds since 1970, as the node writes it. */
export const blockTime = (seed: number, height: number): string => `${blockMs(height)}${lateNs(seed, height)}`

/** The same as 8 bytes, big endian: the number is beyond a double, its halves are not. */
export const writeBlockTime = (seed: number, height: number, into: Buffer, at: number): number => {
  const ms = blockMs(height)
  const high = Math.floor(ms / WORD)
  const low = (ms - high * WORD) * NS_PER_MS + lateNs(seed, height)
  const words = high * NS_PER_MS + Math.floor(low / WORD)
  const top = Math.floor(words / WORD)
  const next = into.writeUInt32BE(top, at)
  return into.writeUInt32BE((words - top * WORD) * WORD + (low % WORD), next)
}
