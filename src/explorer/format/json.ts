import { Exact, parseExact, writeJson } from '#chain/json.ts'

/** Parses a text of the chain as a JSON list; undefined: it is not one. Numbers keep their digits. */
export const listIn = (text: string): readonly unknown[] | undefined => {
  try {
    const value = parseExact(text)
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** A value as readable text: strings and numbers as they are, all else as JSON. */
export const written = (value: unknown): string => {
  if (typeof value === 'string') return value
  return value instanceof Exact ? value.text : writeJson(value)
}
