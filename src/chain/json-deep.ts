import { afterString } from './json-text.ts'

type Open = { readonly into: Record<string, unknown> | unknown[]; key: string | undefined }

const LITERAL_END = /[\s,\]}]/g

/**
 * Parses JSON of any depth without recursion: a signer may nest 30,000 brackets in an action's data, and the chain takes
 * it. `literal` reads numbers, `true`, `false` and `null` as they are written. Expects valid JSON.
 */
export const parseDeep = (text: string, literal: (written: string) => unknown): unknown => {
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
  const putText = (value: string): void => {
    const last = open.at(-1)
    if (last !== undefined && !Array.isArray(last.into) && last.key === undefined) last.key = value
    else put(value)
  }
  for (let at = 0; at < text.length; ) {
    const letter = text[at] ?? ''
    if (letter === '"') {
      const end = afterString(text, at)
      putText(JSON.parse(text.slice(at, end)) as string)
      at = end
    } else if (letter === '[' || letter === '{') {
      const into = letter === '[' ? [] : {}
      put(into)
      open.push({ into, key: undefined })
      at += 1
    } else if (letter === ']' || letter === '}') {
      open.pop()
      at += 1
    } else if (/[\s,:]/.test(letter)) at += 1
    else {
      LITERAL_END.lastIndex = at
      const end = LITERAL_END.exec(text)?.index ?? text.length
      put(literal(text.slice(at, end)))
      at = end
    }
  }
  return root
}
