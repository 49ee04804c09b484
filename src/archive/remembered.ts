/** `sizeOf`: the size of a value in characters; 0 without it. */
type Bounds<T> = { readonly most: number; readonly characters?: number; readonly sizeOf?: (value: T) => number }

/** Caches one value per key; beyond `most` values, or `characters` in values that have arrived, it drops the oldest. */
export function createMemo<T>({ most, characters = 0, sizeOf = () => 0 }: Bounds<T>) {
  const known = new Map<string, Promise<T>>()
  const sizes = new Map<string, number>()
  const drop = (key: string): void => {
    known.delete(key)
    sizes.delete(key)
  }
  const trim = (): void => {
    const [first] = known.keys()
    if (known.size > most && first !== undefined) drop(first)
    let sum = sizes.values().reduce((all, size) => all + size, 0)
    for (const [key, size] of sizes) {
      if (sum <= characters) return
      sum -= size
      drop(key)
    }
  }
  return (key: string, make: () => Promise<T>): Promise<T> => {
    const old = known.get(key)
    if (old !== undefined) return old
    const made = make()
    known.set(key, made)
    made.then(
      value => {
        if (known.get(key) === made) sizes.set(key, sizeOf(value))
        trim()
      },
      () => {
        // A failed value is made again by the next call.
        if (known.get(key) === made) drop(key)
      },
    )
    trim()
    return made
  }
}
