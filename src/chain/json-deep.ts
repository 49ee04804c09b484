import { afterString } from './json-text.ts'

type Open = { readonly into: Record<string, unknown> | unknown[]; key: string | undefined }

/** Brackets, and the characters between values. */
const MARK = /[\s,:[\]{}]/
const LITERAL_END = /[\s,\]}]/g

const literalEnd = (text: string, from: number): number => {
  LITERAL_END.lastIndex = from
  return LITERAL_END.exec(text)?.index ?? text.length
}

/**
 * Parses JSON of any depth without recursion: a signer may nest 30,000 brackets in an action's data, and the chain takes
 * it. `literal` reads numbers, `true`, `false` and `null` as they are written. Expects valid JSON.
 */
export const parseDeep = (text: string, literal: (written: string) => unknown): unknown => {
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
      const end = literalEnd(text, at)
      value.put(literal(text.slice(at, end)))
      at = end
    }
  }
  return value.root
}

/** A value that is put together from its parts, in the order in which they are written. */
const nestedValue = () => {
  const open: Open[] = []
  let root: unknown
  const put = (value: unknown): void => {
    const last = open.at(-1)
    if (last === undefined) root = value
    else if (Array.isArray(last.into)) last.into.push(value)
    else if (last.key !== undefined) {
      // Defined, not assigned: `__proto__` is a key as any other.
      Object.defineProperty(last.into, last.key, {
        value,
        writable: true,
        enumerable: true,
        configurable: true,
      })
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
