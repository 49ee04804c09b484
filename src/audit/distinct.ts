/** A set of texts that only tells new ones from known ones: 16 to 32 bytes per text, whatever its length. */
export type Distinct = {
  /** Adds a text; true when it was not in the set. */
  add(text: string): boolean
}

const BEGIN = 1 << 10

/**
 * Stores 64 bits of each text's hash: among ten million, the chance of a collision is below one in a hundred thousand.
 */
export function distinct(): Distinct {
  let slots = new BigUint64Array(BEGIN)
  let count = 0
  /** Index of the hash, or of the free slot for it; 0 marks a free slot. */
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
