/** Values by key, limited by their characters in total; the oldest entry is dropped first. */
export type BoundedCache<T> = {
  /** undefined: no entry. A value itself may be undefined. */
  get(key: string): { readonly value: T } | undefined
  /** Stores a value and its number of characters, unless the key has an entry or the value is too large. */
  put(key: string, value: T, characters: number): void
}

/** Size of an entry apart from its text. */
export const ENTRY_CHARACTERS = 200

export function boundedCache<T>(maxCharacters: number): BoundedCache<T> {
  const entries = new Map<string, { readonly value: T; readonly characters: number }>()
  let all = 0
  return {
    get: key => entries.get(key),
    put: (key, value, own) => {
      const characters = ENTRY_CHARACTERS + own
      if (characters > maxCharacters || entries.has(key)) return
      entries.set(key, { value, characters })
      all += characters
      for (const [oldest, { characters }] of entries) {
        if (all <= maxCharacters) break
        entries.delete(oldest)
        all -= characters
      }
    },
  }
}

/** Characters of all texts in a document, at any depth, plus eight for each other value; 0 for undefined. */
export function countDocCharacters(doc: object | undefined): number {
  let characters = 0
  // Arrays are iterated without `Object.values`: segments are arrays of hundreds of arrays.
  for (const value of Array.isArray(doc) ? doc : Object.values(doc ?? {})) characters += countValueCharacters(value)
  return characters
}

function countValueCharacters(value: unknown): number {
  if (typeof value === 'string') return value.length
  return typeof value === 'object' && value !== null ? 8 + countDocCharacters(value) : 8
}
