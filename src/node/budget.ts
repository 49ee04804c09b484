/** Memory reserved for one answer. */
export type MemoryReservation = {
  /** Reserves `bytes` more; false: there is no room for them. */
  grow(bytes: number): boolean
  /** Releases all reserved bytes; a second call has no effect. */
  release(): void
}

/** Limits the memory of all answers that are passed on at the same time. */
export type Budget = { reserve(): MemoryReservation }

/**
 * Bytes of each answer that always have room. The number of answers is limited elsewhere, and small answers
 * must not wait for large ones.
 */
const FREE_BYTES = 256 * 1024

/** A budget of `maxBytes`. */
export function createBudget(maxBytes: number): Budget {
  let held = 0
  return {
    reserve: () => {
      let own = 0
      const counted = (bytes: number): number => Math.max(0, bytes - FREE_BYTES)
      return {
        grow: bytes => {
          const more = counted(own + bytes) - counted(own)
          if (held + more > maxBytes) return false
          held += more
          own += bytes
          return true
        },
        release: () => {
          held -= counted(own)
          own = 0
        },
      }
    },
  }
}
