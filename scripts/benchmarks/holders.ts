import type { Standing } from '#indices/standing.ts'
import { mix } from '#test/generator/random.ts'

/** The token everybody of `holdersOf` holds. */
export const TOKEN = 'coin'
export const DECIMAL = 8

/** Holders that share their amount with nobody, of a hundred. */
const ALONE = 30
/** Sizes of the ties among a million, in turn: by the thousand, and small ones between. */
const TIES = [1_000, 5_000, 10, 2_000, 10_000, 300] as const
const MILLION = 1_000_000

/** Smallest units between two neighbouring amounts. */
const STEP = 100_000_000n
const DIGITS = 36
const NAMES = DIGITS ** 5

/** Holders by rank from 0: who stands where, and how much that one holds. */
export const holdersOf = (count: number) => {
  const alone = Math.floor((count * ALONE) / 100)
  const starts: number[] = []
  for (let at = alone; at < count; ) {
    starts.push(at)
    const size = TIES[starts.length % TIES.length] ?? 1
    at += Math.max(2, Math.round((size * count) / MILLION))
  }
  const groupOf = (rank: number): number => {
    let [low, high] = [0, starts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= rank) low = middle
      else high = middle - 1
    }
    return low
  }
  /** Names grow within a tie, as the order asks; between ties they are in no order. */
  const named = (at: number, group: number): string =>
    at.toString(DIGITS).padStart(5, '0') + group.toString(DIGITS).padStart(4, '0')
  const standing = (rank: number): Standing => {
    if (rank < alone) {
      const amount = BigInt(starts.length + alone - rank) * STEP + BigInt(mix(1, 1, rank) % 100_000_000)
      return { amount, name: named(mix(1, 2, rank) % NAMES, starts.length + rank) }
    }
    const group = groupOf(rank)
    const [begin = 0, end = count] = [starts[group], starts[group + 1]]
    const at = Math.floor(((rank - begin + mix(1, 3, group) / 2 ** 32) * NAMES) / (end - begin))
    return { amount: BigInt(starts.length - group) * STEP, name: named(at, group) }
  }
  return { count, standing }
}

/** A prime: its multiples go through all ranks once, in no order, whatever the count. */
const STRIDE = 7_368_787
/** The n-th of `count` things in an order that looks like chance and repeats none. */
export const scattered = (n: number, count: number): number => (n * STRIDE + 12_345) % count
