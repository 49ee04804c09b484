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

/** Where threads that keep one budget together note what each of them holds: four bytes for each. */
export type HeldMemory = { readonly memory: SharedArrayBuffer; readonly thread: number }

export const createBudget = (
  maxBytes: number,
  { memory, thread }: HeldMemory = { memory: new SharedArrayBuffer(4), thread: 0 },
): Budget => {
  const held = new Int32Array(memory)
  const inAll = (): number => held.reduce((sum, own) => sum + own, 0)
  return {
    hold: () => {
      let own = 0
      const counted = (bytes: number): number => Math.max(0, bytes - FREE_BYTES)
      return {
        grow: bytes => {
          const more = counted(own + bytes) - counted(own)
          // Noted first: two threads that see room for one of them take too little rather than too much.
          Atomics.add(held, thread, more)
          if (inAll() > maxBytes) {
            Atomics.sub(held, thread, more)
            return false
          }
          own += bytes
          return true
        },
        release: () => {
          Atomics.sub(held, thread, counted(own))
          own = 0
        },
      }
    },
  }
}

/** For answers that are bounded by who asks for them. */
export const unbounded: Budget = { hold: () => ({ grow: () => true, release: () => undefined }) }
