/** Resident memory in bytes above which garbage is collected sooner than the engine would: it lets a heap double. */
const FROM = 200_000_000
/** Default growth between two collections, in bytes. */
const GROWTH = 40_000_000

type Memory = { readonly resident: () => number; readonly collect: () => void }

const processMemory: Memory = { resident: () => process.memoryUsage.rss(), collect: () => Bun.gc(true) }

/** Number of documents between two checks of the memory. */
const EVERY = 1_000

/** Called with the number of documents made since the previous call. */
export type Collect = (documents: number) => void

/**
 * Keeps the memory of a long load flat, regardless of the memory that the engine assumes the machine has.
 * `growth`: bytes between two collections, each of which traverses all live objects.
 */
export function collector({ resident, collect }: Memory = processMemory, growth: number = GROWTH): Collect {
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
