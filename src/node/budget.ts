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

/**
 * Memory in which threads that share a budget record the bytes each of them holds, four bytes per thread;
 * `thread`: index of the current one.
 */
export type HeldMemory = { readonly memory: SharedArrayBuffer; readonly thread: number }

/** A budget of `maxBytes`. Without `shared` this thread is the only one. */
export const createBudget = (maxBytes: number, shared?: HeldMemory): Budget => {
  let here = 0
  const held = shared === undefined ? undefined : new Int32Array(shared.memory)
  const add = (bytes: number): void => {
    here += bytes
    if (held !== undefined && shared !== undefined) Atomics.store(held, shared.thread, here)
  }
  const inAll = (): number => held?.reduce((sum, own) => sum + own, 0) ?? here
  return {
    reserve: () => {
      let own = 0
      const counted = (bytes: number): number => Math.max(0, bytes - FREE_BYTES)
      return {
        grow: bytes => {
          const more = counted(own + bytes) - counted(own)
          // Added before the check: if two threads compete for the last room, too little is reserved rather
          // than too much.
          add(more)
          if (inAll() > maxBytes) {
            add(-more)
            return false
          }
          own += bytes
          return true
        },
        release: () => {
          add(-counted(own))
          own = 0
        },
      }
    },
  }
}
