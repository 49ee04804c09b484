/** Bytes that are held for one answer. */
export type Hold = {
  /** Counts so many bytes more; false: there is no room for them. */
  grow(bytes: number): boolean
  /** Lets go of all of them; again is harmless. */
  release(): void
}

/** Bounds the bytes of all answers that are passed on at once. */
export type Budget = { hold(): Hold }

/** Of each answer this much always has room: their number is bounded elsewhere, and small answers must not wait for large ones. */
const FREE_BYTES = 256 * 1024

export const createBudget = (maxBytes: number): Budget => {
  let held = 0
  return {
    hold: () => {
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

/** For answers that are bounded by who asks for them. */
export const unbounded: Budget = { hold: () => ({ grow: () => true, release: () => undefined }) }
