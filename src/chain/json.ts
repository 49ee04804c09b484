import { PARTS } from './bounds.ts'
import { afterString, measureDepth, measureJson } from './json-text.ts'

/**
 * JSON without loss of digits. `JSON.parse` turns 9007199254740993 into …992; amounts, supplies and
 * nanosecond times of the chain do not fit a double. Parsing keeps the text of every number that a double
 * would change; writing restores it.
 */

/** A number kept as its text, a decimal literal. It is written unchanged, or as a string on request. */
export class Exact {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Valid JSON text that is written unchanged. */
export class RawJson {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** A JSON value with `Exact` for unsafe numbers. Any text may be an object's own key, even `__proto__`. */
export type ExactJson =
  | null
  | boolean
  | number
  | string
  | Exact
  | readonly ExactJson[]
  | { readonly [key: string]: ExactJson }

/** Deeper texts are parsed without recursion: the engine's reviver overflows at some thousand levels. */
const RECURSIVE_DEPTH = 200

/** Only long runs of digits, exponents, fractions and −0 can lose digits; few texts have any outside strings. */
const LOSSY = /\d{16}|[\d.][eE]|\.\d|-0/
/** Matches a text without its end too: else each of its quotes would be searched to the end again. */
const TEXTS = /"[^"\\]*(?:\\.[^"\\]*)*"?/gs

/**
 * `JSON.parse` for texts that another program wrote. Throws SyntaxError also for a text with more than `most` parts
 * (`measureJson`), which would take many times its length.
 */
export function parseJson(text: string, most = PARTS.most): unknown {
  requireParts(text, most)
  return JSON.parse(text)
}

function requireParts(text: string, most: number): void {
  // Each part takes at least one letter, so that most texts need not be measured.
  if (text.length > most && measureJson(text).parts > most)
    throw new SyntaxError(`The text has over ${most} texts, brackets and commas.`)
}

/** The value of a JSON text that has no number beyond a double; undefined: the text is not JSON (`parseJson`). */
export function tryParseJson(text: string, most = PARTS.most): unknown {
  try {
    return parseJson(text, most)
  } catch {
    return undefined
  }
}

/**
 * Parses JSON of any depth. A number whose shortest double does not print as written becomes `Exact` (with
 * its text as written, so possibly with an exponent). Throws SyntaxError, as `parseJson`.
 */
export function parseExact(text: string): ExactJson {
  requireParts(text, PARTS.most)
  if (!LOSSY.test(text) || !LOSSY.test(text.replace(TEXTS, '""'))) return JSON.parse(text) as ExactJson
  if (text.length > RECURSIVE_DEPTH && measureDepth(text) > RECURSIVE_DEPTH) {
    JSON.parse(text)
    return parseDeep(text, written => {
      const value: unknown = JSON.parse(written)
      return typeof value !== 'number' || String(value) === written ? value : new Exact(written)
    }) as ExactJson
  }
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
/** Cache limits above the keys of our own answers: keys in the chain's texts must not fill the memory. */
const MAX_KEYS = 1_000
const MAX_KEY_LETTERS = 64

/**
 * Quotes a new key, adds its colon and caches the text: twenty rows have the same dozen keys, and quoting
 * takes as long for keys as for values.
 */
function quotedKey(key: string): string {
  const quoted = `${JSON.stringify(key)}:`
  if (quotedKeys.size < MAX_KEYS && key.length <= MAX_KEY_LETTERS) quotedKeys.set(key, quoted)
  return quoted
}

/** A list or an object that is being written: its values, and an object's keys in their written form. */
type Frame = {
  readonly begin: string
  readonly end: string
  readonly keys: readonly string[]
  readonly values: readonly unknown[]
  at: number
}

function createFrame(item: object): Frame {
  if (Array.isArray(item)) return { begin: '[', end: ']', keys: [], values: item, at: 0 }
  const keys: string[] = []
  const values: unknown[] = []
  for (const [name, value] of item instanceof Map ? item : Object.entries(item)) {
    if (value === undefined) continue
    keys.push(quotedKeys.get(name) ?? quotedKey(String(name)))
    values.push(value)
  }
  return { begin: '{', end: '}', keys, values, at: 0 }
}

/** The text of a value that is written in one piece; undefined: a list or an object. */
function formatPiece(item: unknown, quoted: boolean): string | undefined {
  switch (typeof item) {
    case 'string':
      return JSON.stringify(item)
    case 'number':
      if (!Number.isFinite(item)) throw new RangeError(`${item} cannot be written as JSON.`)
      return String(item)
    case 'boolean':
      return String(item)
    case 'bigint':
      return quoted ? `"${item}"` : String(item)
    case 'object':
      if (item === null) return 'null'
      if (item instanceof Exact) return quoted ? `"${item.text}"` : item.text
      return item instanceof RawJson ? item.text : undefined
    default:
      throw new TypeError(`A ${typeof item} cannot be written as JSON.`)
  }
}

/**
 * Writes a value of any depth as compact JSON. `undefined` properties are omitted; bigint is written as its
 * digits. It does not recurse, since a value may contain a signer's deep nesting.
 */
export function writeJson(value: unknown, options: WriteOptions = {}): string {
  const quoted = options.numbers === 'string'
  const piece = formatPiece(value, quoted)
  if (piece !== undefined) return piece
  const open = [createFrame(value as object)]
  let written = open[0]?.begin ?? ''
  for (let frame = open.at(-1); frame !== undefined; frame = open.at(-1)) {
    const { at, values, keys } = frame
    if (at === values.length) {
      written += frame.end
      open.pop()
      continue
    }
    frame.at += 1
    if (at > 0) written += ','
    written += keys[at] ?? ''
    const text = formatPiece(values[at], quoted)
    if (text !== undefined) {
      written += text
      continue
    }
    const inner = createFrame(values[at] as object)
    written += inner.begin
    open.push(inner)
  }
  return written
}

type Open = { readonly into: Record<string, unknown> | unknown[]; key: string | undefined }

/** Brackets, and the characters between values. */
const MARK = /[\s,:[\]{}]/
const LITERAL_END = /[\s,\]}]/g

/**
 * Parses JSON of any depth without recursion: a signer may nest 30,000 brackets in an action's data, and the chain
 * accepts them. `literal` converts numbers, `true`, `false` and `null` from their text. Expects valid JSON.
 */
export function parseDeep(text: string, literal: (written: string) => unknown): unknown {
  const value = nestedValue()
  for (let at = 0; at < text.length; ) {
    const letter = text[at] ?? ''
    if (letter === '"') {
      const end = afterString(text, at)
      value.putText(JSON.parse(text.slice(at, end)) as string)
      at = end
    } else if (MARK.test(letter)) {
      value.mark(letter)
      at += 1
    } else {
      LITERAL_END.lastIndex = at
      const end = LITERAL_END.exec(text)?.index ?? text.length
      value.put(literal(text.slice(at, end)))
      at = end
    }
  }
  return value.root
}

/** Builds a value from its parts, in the order in which they are written. */
function nestedValue() {
  const open: Open[] = []
  let root: unknown
  const put = (value: unknown): void => {
    const last = open.at(-1)
    if (last === undefined) root = value
    else if (Array.isArray(last.into)) last.into.push(value)
    else if (last.key !== undefined) {
      // Defined, not assigned: `__proto__` is a key like any other.
      Object.defineProperty(last.into, last.key, { value, writable: true, enumerable: true, configurable: true })
      last.key = undefined
    }
  }
  const begin = (into: Open['into']): void => {
    put(into)
    open.push({ into, key: undefined })
  }
  return {
    put,
    /** A key of an object, or a text that is a value. */
    putText: (text: string): void => {
      const last = open.at(-1)
      if (last !== undefined && !Array.isArray(last.into) && last.key === undefined) last.key = text
      else put(text)
    },
    /** A bracket begins or ends a list or an object; other marks change nothing. */
    mark: (letter: string): void => {
      if (letter === '[') begin([])
      else if (letter === '{') begin({})
      else if (letter === ']' || letter === '}') open.pop()
    },
    get root() {
      return root
    },
  }
}
