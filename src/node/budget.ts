/** Bytes that are held for one answer. */
export type Hold = {
  /** Counts `bytes` more; false: there is no room for them. */
  grow(bytes: number): boolean
  /** Lets go of all of them; again is harmless. */
  release(): void
}

/** Bounds the bytes of all answers that are passed on at once. */
export type Budget = { hold(): Hold }

/** Of each answer this much always has room: their number is bounded elsewhere, and small answers must not wait for large ones. */
const FREE_BYTES = 256 * 1024

/** Where threads that keep one budget together note what each of them holds, four bytes for each; `thread`: the current one. */
export type HeldMemory = { readonly memory: SharedArrayBuffer; readonly thread: number }

/** Without `shared` this thread is the only one. */
export const createBudget = (maxBytes: number, shared?: HeldMemory): Budget => {
  let here = 0
  const held = shared === undefined ? undefined : new Int32Array(shared.memory)
  const add = (bytes: number): void => {
    here += bytes
    if (held !== undefined && shared !== undefined) Atomics.store(held, shared.thread, here)
  }
  const inAll = (): number => held?.reduce((sum, own) => sum + own, 0) ?? here
  return {
    hold: () => {
      let own = 0
      const counted = (bytes: number): number => Math.max(0, bytes - FREE_BYTES)
      return {
        grow: bytes => {
          const more = counted(own + bytes) - counted(own)
          // Noted first: two threads that see room for one of them take too little rather than too much.
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
