import { Exact, parseExact, writeJson } from '#chain/json.ts'

/** A text of the chain as a list, where it is one in JSON; numbers keep their digits. */
export const listIn = (text: string): readonly unknown[] | undefined => {
  try {
    const value = parseExact(text)
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** A value as one reads it: texts and numbers by themselves, all else as JSON. */
export const written = (value: unknown): string => {
  if (typeof value === 'string') return value
  return value instanceof Exact ? value.text : writeJson(value)
}
