/** Resident memory, in bytes, from which on garbage is collected sooner than the engine would: it lets a heap double. */
const FROM = 200_000_000
/** Growth since the last collection before the next one, unless told otherwise. */
const GROWTH = 40_000_000

export type Memory = {
  readonly resident: () => number
  readonly collect: () => void
}

const processMemory: Memory = {
  resident: () => process.memoryUsage.rss(),
  collect: () => Bun.gc(true),
}

/** Documents between two looks at the memory. */
const EVERY = 1_000

/** Called with the number of documents that were made since the call before. */
export type Collect = (documents: number) => void

/**
 * Keeps the memory of a long load flat, whatever the engine thinks the machine has. `growth`: bytes since the last
 * collection before the next one; each of them looks at all that is alive.
 */
export const collector = (
  { resident, collect }: Memory = processMemory,
  growth: number = GROWTH,
): Collect => {
  let next = FROM
  let made = 0
  return documents => {
    made += documents
    if (made < EVERY) return
    made = 0
    if (resident() < next) return
    collect()
    next = Math.max(FROM, resident() + growth)
  }
}
