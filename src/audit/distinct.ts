/** Tells texts that were met before from those that were not: 16 to 32 bytes for each, however long it is. */
export type Distinct = {
  /** Whether it is met for the first time. */
  add(text: string): boolean
}

const BEGIN = 1 << 10

/**
 * Keeps 64 bits of each text: of ten million, the chance that any two share theirs is below one in a hundred thousand.
 */
export const distinct = (): Distinct => {
  let slots = new BigUint64Array(BEGIN)
  let count = 0
  /** Its place, or the free place for it; 0 marks a free place. */
  const slotOf = (hash: bigint): number => {
    let at = Number(hash % BigInt(slots.length))
    while (slots[at] !== 0n && slots[at] !== hash) at = (at + 1) % slots.length
    return at
  }
  const grow = (): void => {
    const before = slots
    slots = new BigUint64Array(before.length * 2)
    for (const hash of before) if (hash !== 0n) slots[slotOf(hash)] = hash
  }
  return {
    add: text => {
      const hash = BigInt(Bun.hash(text)) || 1n
      const at = slotOf(hash)
      if (slots[at] === hash) return false
      slots[at] = hash
      count += 1
      if (count * 2 > slots.length) grow()
      return true
    },
  }
}
