import { type ExactJson, parseExact } from './json.ts'
import { afterList } from './json-text.ts'

/** The end of a text whose last comma the chain drops. */
const COMMA_AT_END = ',]'

/**
 * The arguments of an action as the chain reads them from its data; undefined: the data begins with no JSON list, and
 * the action fails. The chain reads the first value, whatever text comes after it, and drops a comma before the bracket
 * that ends the text (go-iost `vm/monitor.go` UnmarshalArgs; NewJson of go-simplejson decodes one value of a stream).
 * Lone surrogates in an argument are replaced, as Go does.
 */
export function argumentsAsRead(data: string): readonly ExactJson[] | undefined {
  const args = parseArgumentList(data)
  // Only an escape can write a lone surrogate.
  return data.includes('\\u') ? args?.map(wellFormed) : args
}

const wellFormed = (value: ExactJson): ExactJson => (typeof value === 'string' ? value.toWellFormed() : value)

function parseArgumentList(data: string): readonly ExactJson[] | undefined {
  const whole = tryParseExact(data)
  if (whole !== undefined) return asArgumentList(whole)
  const text = data.endsWith(COMMA_AT_END) ? `${data.slice(0, -COMMA_AT_END.length)}]` : data
  const end = afterList(text)
  return end === undefined ? undefined : asArgumentList(tryParseExact(text.slice(0, end)))
}

const asArgumentList = (value: ExactJson | undefined): readonly ExactJson[] | undefined =>
  Array.isArray(value) ? (value as readonly ExactJson[]) : undefined

function tryParseExact(text: string): ExactJson | undefined {
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}
