/** Values by key, up to a number of characters in all; the oldest entry is dropped first. */
export type BoundedCache<T> = {
  /** undefined: there is no entry. A value may be undefined itself. */
  get(key: string): { readonly value: T } | undefined
  /** Keeps a value of that number of characters, unless there is one or it alone would be too large. */
  put(key: string, value: T, characters: number): void
}

/** Size of an entry without text. */
export const ENTRY_CHARACTERS = 200

export const boundedCache = <T>(maxCharacters: number): BoundedCache<T> => {
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

/** Characters of all texts in a document, however deep, with eight for each other value; 0 of none. */
export const charactersOf = (doc: object | undefined): number => {
  let characters = 0
  // A list is gone over as it is: segments are lists of hundreds of lists.
  for (const value of Array.isArray(doc) ? doc : Object.values(doc ?? {})) characters += sizeOf(value)
  return characters
}

const sizeOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length
  return typeof value === 'object' && value !== null ? 8 + charactersOf(value) : 8
}
