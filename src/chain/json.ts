import { PARTS } from './bounds.ts'

/**
 * JSON without loss of digits. `JSON.parse` turns 9007199254740993 into …992; amounts, supplies and
 * nanosecond times of the chain do not fit a double. Parsing keeps the text of every number that a double
 * would change; writing restores it.
 */

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const COMMA = 0x2c
const COLON = 0x3a
const SPACE = 0x20

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

/** Only long runs of digits, exponents, fractions and −0 can lose digits; few texts have any outside strings. */
const LOSSY = /\d{16}|[\d.][eE]|\.\d|-0/
/** Matches a text without its end too: else each of its quotes would be searched to the end again. */
const TEXTS = /"[^"\\]*(?:\\.[^"\\]*)*"?/gs

/**
 * `JSON.parse` for texts that another program wrote. Throws SyntaxError also for a text with more than `most` parts
 * (`measureJson`), which would take many times its length.
 */
export function parseJson(text: string, most = PARTS.most): unknown {
  // Each part takes at least one letter, so that most texts need not be measured.
  if (text.length > most && measureJson(text).parts > most)
    throw new SyntaxError(`The text has over ${most} texts, brackets and commas.`)
  return JSON.parse(text)
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
  const plain = parseJson(text) as ExactJson
  return LOSSY.test(text) && LOSSY.test(text.replace(TEXTS, '""')) ? parseKeepingDigits(text) : plain
}

/** `parseExact`; undefined: the text is not JSON. */
export function tryParseExact(text: string): ExactJson | undefined {
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}

/**
 * Parses valid JSON without recursion: a signer may nest 30,000 brackets in an action's data, and the chain accepts
 * them. JSON.parse with a reviver takes longer, and overflows at some thousand levels.
 */
function parseKeepingDigits(text: string): ExactJson {
  const value = nestedValue()
  for (let at = 0, end = 0; at < text.length; at = end) {
    const letter = text.charCodeAt(at)
    end = at + 1
    if (letter === QUOTE) {
      end = skipString(text, at)
      value.putText(JSON.parse(text.slice(at, end)) as string)
    } else if (letter === OPEN_LIST) value.begin([])
    else if (letter === OPEN_OBJECT) value.begin({})
    else if (letter === CLOSE_LIST || letter === CLOSE_OBJECT) value.end()
    else if (letter > SPACE && letter !== COMMA && letter !== COLON) {
      end = skipValue(text, at)
      value.put(parseLiteral(text.slice(at, end)))
    }
  }
  return value.root
}

function parseLiteral(written: string): ExactJson {
  const value = JSON.parse(written) as null | boolean | number
  return typeof value !== 'number' || String(value) === written ? value : new Exact(written)
}

/** Builds a value from its parts, in the order in which they are written. */
function nestedValue() {
  const outer: ExactJson[] = []
  const open: (ExactJson[] | Record<string, ExactJson>)[] = [outer]
  let into: (typeof open)[number] = outer
  let key: string | undefined
  const put = (value: ExactJson): void => {
    if (Array.isArray(into)) into.push(value)
    else if (key !== undefined) {
      // Defined, not assigned: `__proto__` is a key like any other.
      Object.defineProperty(into, key, { value, writable: true, enumerable: true, configurable: true })
      key = undefined
    }
  }
  return {
    put,
    /** A key of an object, or a text that is a value. */
    putText: (text: string): void => {
      if (key === undefined && !Array.isArray(into)) key = text
      else put(text)
    },
    begin: (inner: typeof into): void => {
      put(inner)
      open.push(inner)
      into = inner
    },
    end: (): void => {
      open.pop()
      into = open.at(-1) ?? outer
    },
    get root(): ExactJson {
      return outer[0] ?? null
    },
  }
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

/**
 * What follows finds parts of a JSON text, to keep a node's output as written: parsing and writing again would move
 * all-digit keys to the front of their object and round numbers. A `from` is at a value of the kind in the function's name.
 * `measureJson` accepts any text, and `skipValue` returns the end of an unfinished one; the others expect valid JSON.
 */

/** The position of a value in a text: [from, to). */
export type TextSpan = readonly [from: number, to: number]

function skipSpace(text: string, at: number): number {
  let next = at
  while (text.charCodeAt(next) <= SPACE) next += 1
  return next
}

/** `at` is the opening quote; returns the position after the closing one, or the end of a text without one. */
function skipString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1
    if (slashes % 2 === 0) return end + 1
  }
  return text.length
}

/** The structure of a text, JSON or not, as far as it can be told before it is parsed. */
type JsonShape = {
  /** The greatest depth of open brackets. */
  readonly depth: number
  /** The number of texts, opening brackets and commas: each value and each key takes up to 120 bytes when parsed. */
  readonly parts: number
}

/** Measures a text before it is parsed: brackets and commas take one byte each there, and many in memory. */
export function measureJson(text: string): JsonShape {
  let depth = 0
  let deepest = 0
  let parts = 0
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charCodeAt(at)
    if (letter === QUOTE) {
      parts += 1
      at = skipString(text, at) - 1
    } else if (letter === OPEN_OBJECT || letter === OPEN_LIST) {
      parts += 1
      depth += 1
      if (depth > deepest) deepest = depth
    } else if (letter === CLOSE_OBJECT || letter === CLOSE_LIST) depth -= 1
    else if (letter === COMMA) parts += 1
  }
  return { depth: deepest, parts }
}

/** The position after the value at `from`, which space may precede. */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: every letter of every block passes here once; a call for each would slow loading.
export function skipValue(text: string, from = 0): number {
  let depth = 0
  for (let at = skipSpace(text, from); at < text.length; ) {
    const letter = text.charCodeAt(at)
    if (letter === QUOTE) {
      at = skipString(text, at)
      if (depth === 0) return at
      continue
    }
    if (letter === OPEN_OBJECT || letter === OPEN_LIST) depth += 1
    else if (letter === CLOSE_OBJECT || letter === CLOSE_LIST) {
      if (depth === 0) return at
      depth -= 1
      if (depth === 0) return at + 1
    } else if (depth === 0 && (letter === COMMA || letter <= SPACE)) return at
    at += 1
  }
  return text.length
}

/** Positions of the members of the object at `from`, as written; of a repeated key the last, like JSON.parse. */
export function memberSpans(text: string, from = 0): ReadonlyMap<string, TextSpan> {
  const members = new Map<string, TextSpan>()
  let at = skipSpace(text, skipSpace(text, from) + 1)
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = skipString(text, at)
    const key = JSON.parse(text.slice(at, keyEnd)) as string
    // The key is followed by a colon, with or without space around it.
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1)
    const end = skipValue(text, start)
    members.set(key, [start, end])
    at = skipSpace(text, end)
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
  }
  return members
}

/** Positions of the elements of the list at `from`. */
export function elementSpans(text: string, from = 0): readonly TextSpan[] {
  const elements: TextSpan[] = []
  let at = skipSpace(text, skipSpace(text, from) + 1)
  while (at < text.length && text.charCodeAt(at) !== CLOSE_LIST) {
    const end = skipValue(text, at)
    elements.push([at, end])
    at = skipSpace(text, end)
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
  }
  return elements
}

/** Positions of the objects and lists inside a number of brackets, found in one pass. */
export function spansInside(text: string, inside: number): readonly TextSpan[] {
  const values: TextSpan[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charCodeAt(at)
    if (letter === QUOTE) at = skipString(text, at) - 1
    else if (letter === OPEN_OBJECT || letter === OPEN_LIST) {
      if (depth === inside) start = at
      depth += 1
    } else if (letter === CLOSE_OBJECT || letter === CLOSE_LIST) {
      depth -= 1
      if (depth === inside) values.push([start, at + 1])
    }
  }
  return values
}

/** A part of a JSON text without the space between its tokens; strings and numbers stay unchanged. */
export function compactJson(text: string, [from, to]: TextSpan = [0, text.length]): string {
  // Joined at the end: a text grown piece by piece would keep the whole original answer in memory.
  const pieces: string[] = []
  let start = from
  for (let at = from; at < to; ) {
    const letter = text.charCodeAt(at)
    if (letter === QUOTE) at = skipString(text, at)
    else if (letter <= SPACE) {
      pieces.push(text.slice(start, at))
      at = skipSpace(text, at)
      start = at
    } else at += 1
  }
  pieces.push(text.slice(start, Math.max(start, to)))
  return pieces.join('')
}

/** Whether a part of a JSON text equals this one except for space between tokens, without allocation. */
export function isCompactForm(compact: string, text: string, [from, to]: TextSpan): boolean {
  let next = 0
  let isQuoted = false
  for (let at = from; at < to; at += 1) {
    let letter = text.charCodeAt(at)
    if (!isQuoted && letter <= SPACE) continue
    if (letter !== compact.charCodeAt(next)) return false
    next += 1
    if (letter === QUOTE) isQuoted = !isQuoted
    else if (letter === BACKSLASH) {
      at += 1
      letter = text.charCodeAt(at)
      if (letter !== compact.charCodeAt(next)) return false
      next += 1
    }
  }
  return next === compact.length
}
