/** Resident memory, in bytes, from which on garbage is collected sooner than the engine would: it lets a heap double. */
const FROM = 240_000_000
/** Growth since the last collection before the next one: each of them looks at all that is alive. */
const GROWTH = 50_000_000

export type Memory = {
  readonly resident: () => number
  readonly collect: () => void
}

const processMemory: Memory = {
  resident: () => process.memoryUsage.rss(),
  collect: () => Bun.gc(true),
}

/** To be called now and then: keeps the memory of a long load flat, whatever the engine thinks the machine has. */
export const collector = ({ resident, collect }: Memory = processMemory): (() => void) => {
  let next = FROM
  return () => {
    if (resident() < next) return
    collect()
    next = Math.max(FROM, resident() + GROWTH)
  }
}
