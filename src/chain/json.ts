/**
 * JSON without loss of digits. `JSON.parse` turns 9007199254740993 into …992; amounts, supplies and nanosecond times of
 * the chain do not fit a double. Reading keeps the text of every number a double would change; writing writes it back.
 */

/** A number known by its digits (a decimal literal without exponent). Written as they stand, or as a string on request. */
export class Exact {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Valid JSON text that is written as it stands. */
export class RawJson {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** A JSON value whose unsafe numbers are `Exact`. Objects have no prototype, so any key is a plain key. */
export type ExactJson =
  | null
  | boolean
  | number
  | string
  | Exact
  | readonly ExactJson[]
  | { readonly [key: string]: ExactJson }

/**
 * Parses JSON; a number whose shortest double does not print as it was written becomes `Exact` (with its text as
 * written, so possibly with an exponent). Throws SyntaxError.
 */
export const parseExact = (text: string): ExactJson => {
  // Only a long run of digits, an exponent or a fraction can lose anything: most texts have none.
  if (!/\d{16}|[\d.][eE]|\.\d|-0/.test(text)) return JSON.parse(text) as ExactJson
  return JSON.parse(text, (_key, value, context?: { source?: string }) => {
    if (typeof value !== 'number' || context?.source === undefined) return value
    return String(value) === context.source ? value : new Exact(context.source)
  }) as ExactJson
}

export type WriteOptions = {
  /** `string`: every `Exact` is written as text in quotes. */
  readonly numbers?: 'number' | 'string'
}

const quotedKeys = new Map<string, string>()
/** More and longer ones than our own answers have: keys that a chain's text brought along must not take all memory. */
const MOST_KEYS = 1_000
const MOST_KEY_LETTERS = 64

/** A key in its quotes: twenty rows have the same dozen, and quoting takes as long for them as for the values. */
const quotedKey = (key: string): string => {
  const known = quotedKeys.get(key)
  if (known !== undefined) return known
  const quoted = JSON.stringify(key)
  if (quotedKeys.size < MOST_KEYS && key.length <= MOST_KEY_LETTERS) quotedKeys.set(key, quoted)
  return quoted
}

/** Writes a value as compact JSON. `undefined` properties are left out; bigint is written as its digits. */
export const writeJson = (value: unknown, options: WriteOptions = {}): string => {
  const quoted = options.numbers === 'string'
  const write = (item: unknown): string => {
    switch (typeof item) {
      case 'string':
        return JSON.stringify(item)
      case 'number':
        if (!Number.isFinite(item)) throw new RangeError(`${item} can not be written as JSON.`)
        return String(item)
      case 'boolean':
        return item ? 'true' : 'false'
      case 'bigint':
        return quoted ? `"${item}"` : String(item)
      case 'object':
        return item === null ? 'null' : writeObject(item)
      default:
        throw new TypeError(`A ${typeof item} can not be written as JSON.`)
    }
  }
  const writeObject = (item: object): string => {
    if (item instanceof Exact) return quoted ? `"${item.text}"` : item.text
    if (item instanceof RawJson) return item.text
    if (Array.isArray(item)) return `[${item.map(write).join(',')}]`
    let written = ''
    const add = (key: string, entry: unknown): void => {
      if (entry !== undefined) written += `${written === '' ? '' : ','}${key}:${write(entry)}`
    }
    if (item instanceof Map) for (const [key, entry] of item) add(JSON.stringify(String(key)), entry)
    else for (const key of Object.keys(item)) add(quotedKey(key), (item as Record<string, unknown>)[key])
    return `{${written}}`
  }
  return write(value)
}
