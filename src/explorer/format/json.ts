import { Exact, writeJson } from '#chain/json.ts'

/** A value as readable text: strings and numbers as they are, all else as JSON. */
export const written = (value: unknown): string => {
  if (typeof value === 'string') return value
  return value instanceof Exact ? value.text : writeJson(value)
}
