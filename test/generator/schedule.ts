import { createDraws } from './random.ts'
import type { Profile, Settings } from './settings.ts'

/** The transactions per block of a cycle, the same in every cycle. */
export type Schedule = {
  /** Number of transactions of a cycle, which is even. The second half reverts the first one. */
  readonly count: number
  /** Number of the first transaction of a block of the cycle; for the offset `cycle`: `count`. */
  first(offset: number): number
  /** Offset of the block that contains the k-th transaction of the cycle. */
  offset(k: number): number
}

type Draw = ReturnType<typeof createDraws>

const COUNTS: Readonly<Record<Profile, (draws: Draw) => number>> = {
  sparse: draws => (draws.unit() < 0.94 ? 0 : 1 + draws.below(3)),
  busy: draws => 40 + draws.below(21),
  mixed: draws => {
    const kind = draws.unit()
    if (kind < 0.6) return 0
    return kind < 0.9 ? 1 + draws.below(6) : 20 + draws.below(40)
  },
}

export function scheduleOf({ seed, profile, cycle }: Settings): Schedule {
  const draws = createDraws()
  const firsts = new Uint32Array(cycle + 1)
  let total = 0
  for (let offset = 0; offset < cycle; offset += 1) {
    firsts[offset] = total
    draws.start(seed, 1, offset)
    total += COUNTS[profile](draws)
  }
  total = Math.max(2, total + (total % 2))
  firsts[cycle] = total
  const offsets = new Uint32Array(total)
  for (let offset = 0; offset < cycle; offset += 1) offsets.fill(offset, firsts[offset] ?? 0, firsts[offset + 1] ?? 0)
  return { count: total, first: offset => firsts[offset] ?? 0, offset: k => offsets[k] ?? 0 }
}
