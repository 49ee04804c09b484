/** Values by key in memory, limited by their characters in total; the oldest entry is dropped first. */
export type BoundedCache<T> = {
  /** undefined: no entry. A value itself may be undefined. */
  get(key: string): { readonly value: T } | undefined
  /** Stores a value and its number of characters in place of any other, unless it is too large. */
  put(key: string, value: T, characters: number): void
  drop(key: string): void
  characters(): number
}

/** `onDrop` is called with each value that the cache no longer has, or did not accept. */
export function boundedCache<T>(maxCharacters: number, onDrop?: (value: T) => void): BoundedCache<T> {
  const entries = new Map<string, { readonly value: T; readonly characters: number }>()
  let all = 0
  const drop = (key: string): void => {
    const entry = entries.get(key)
    if (entry === undefined) return
    entries.delete(key)
    all -= entry.characters
    onDrop?.(entry.value)
  }
  return {
    get: key => entries.get(key),
    put: (key, value, own) => {
      // An entry takes as much as 200 characters apart from its text.
      const characters = 200 + own
      if (characters > maxCharacters) return onDrop?.(value)
      drop(key)
      entries.set(key, { value, characters })
      all += characters
      for (const oldest of entries.keys()) {
        if (all <= maxCharacters) break
        drop(oldest)
      }
    },
    drop,
    characters: () => all,
  }
}

/** Characters of all texts in a document, at any depth, plus eight for each other value; 0 for undefined. */
export function countDocCharacters(doc: object | undefined): number {
  let characters = 0
  // Arrays are iterated without `Object.values`: segments are arrays of hundreds of arrays.
  for (const value of Array.isArray(doc) ? doc : Object.values(doc ?? {}))
    if (typeof value === 'string') characters += value.length
    else characters += typeof value === 'object' && value !== null ? 8 + countDocCharacters(value) : 8
  return characters
}
