/**
 * The text of parts of a JSON text, to keep a node's output as written: parsing and writing again would move
 * all-digit keys to the front of their object and round numbers. All functions expect valid JSON (JSON.parse
 * it first) and a `from` at a value of the kind in their name.
 */
const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const COMMA = 0x2c
const SPACE = 0x20

/** The position of a value in a text: [from, to). */
export type TextSpan = readonly [from: number, to: number]

function afterSpace(text: string, at: number): number {
  let next = at
  while (text.charCodeAt(next) <= SPACE) next += 1
  return next
}

/** `at` is the opening quote; returns the position after the closing one. */
export function afterString(text: string, at: number): number {
  let end = text.indexOf('"', at + 1)
  for (;;) {
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1
    if (slashes % 2 === 0) return end + 1
    end = text.indexOf('"', end + 1)
  }
}

/** The structure of a text, JSON or not, as far as it can be told before it is parsed. */
type JsonShape = {
  /** The greatest depth of open brackets. */
  readonly depth: number
  /** The number of texts, opening brackets and commas: each value and each key takes up to 120 bytes when parsed. */
  readonly parts: number
}

/** Measures a text before it is parsed: brackets and commas take one byte each there, and many in memory. */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: every letter of every block passes here once; a call for each would slow loading.
export function measureJson(text: string): JsonShape {
  let depth = 0
  let deepest = 0
  let parts = 0
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charCodeAt(at)
    if (letter === QUOTE) {
      parts += 1
      const end = afterString(text, at)
      if (end <= at) break
      at = end - 1
    } else if (letter === OPEN_OBJECT || letter === OPEN_LIST) {
      parts += 1
      depth += 1
      if (depth > deepest) deepest = depth
    } else if (letter === CLOSE_OBJECT || letter === CLOSE_LIST) depth -= 1
    else if (letter === COMMA) parts += 1
  }
  return { depth: deepest, parts }
}

/** The greatest depth of open brackets in a text, JSON or not; recursive code checks it before it begins. */
export const measureDepth = (text: string): number => measureJson(text).depth

/** The position after the first list or object in a text, JSON or not; undefined: none ends. */
export function afterList(text: string): number | undefined {
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charCodeAt(at)
    if (letter === QUOTE) {
      const end = afterString(text, at)
      if (end <= at) return undefined
      at = end - 1
    } else if (letter === OPEN_OBJECT || letter === OPEN_LIST) depth += 1
    else if (letter === CLOSE_OBJECT || letter === CLOSE_LIST) {
      depth -= 1
      if (depth <= 0) return at + 1
    }
  }
  return undefined
}

// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: every letter of every block passes here once; a call for each would slow loading.
function afterValue(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; ) {
    const letter = text.charCodeAt(at)
    if (letter === QUOTE) {
      at = afterString(text, at)
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
  let at = afterSpace(text, afterSpace(text, from) + 1)
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = afterString(text, at)
    const key = JSON.parse(text.slice(at, keyEnd)) as string
    // The key is followed by a colon, with or without space around it.
    const start = afterSpace(text, afterSpace(text, keyEnd) + 1)
    const end = afterValue(text, start)
    members.set(key, [start, end])
    at = afterSpace(text, end)
    if (text.charCodeAt(at) === COMMA) at = afterSpace(text, at + 1)
  }
  return members
}

/** Positions of the elements of the list at `from`. */
export function elementSpans(text: string, from = 0): readonly TextSpan[] {
  const elements: TextSpan[] = []
  let at = afterSpace(text, afterSpace(text, from) + 1)
  while (at < text.length && text.charCodeAt(at) !== CLOSE_LIST) {
    const end = afterValue(text, at)
    elements.push([at, end])
    at = afterSpace(text, end)
    if (text.charCodeAt(at) === COMMA) at = afterSpace(text, at + 1)
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
    if (letter === QUOTE) at = afterString(text, at) - 1
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
    if (letter === QUOTE) at = afterString(text, at)
    else if (letter <= SPACE) {
      pieces.push(text.slice(start, at))
      at = afterSpace(text, at)
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
