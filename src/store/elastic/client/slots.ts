/** Slots for what runs at the same time; the one that has waited longest gets the next free slot. */
export type Slots = {
  /** Takes a slot; waits for one only if none is free. */
  take(): Promise<void> | undefined
  leave(): void
  readonly taken: number
}

export const slots = (most: number): Slots => {
  const waiting: (() => void)[] = []
  let taken = 0
  return {
    take: () => {
      if (taken >= most) return new Promise(go => waiting.push(go))
      taken += 1
      return undefined
    },
    leave: () => {
      const next = waiting.shift()
      if (next === undefined) taken -= 1
      else next()
    },
    get taken() {
      return taken
    },
  }
}
