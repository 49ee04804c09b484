import { memberSpans } from '#chain/json-text.ts'
import { type Answer, refused } from './answer.ts'

/** Values in paths and bodies as the node (Go) reads them; what it refuses is an Answer in its words. */

const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])
const FALSE: ReadonlySet<string> = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False'])
/** protojson begins its errors with this word and a space that is none. */
const PROTO = 'proto:\u00a0'
const INT64_MAX = 2n ** 63n - 1n
const INT64_MIN = -(2n ** 63n)

const mismatch = (parameter: string, parser: string, text: string, problem: string): Answer =>
  refused(
    3,
    `type mismatch, parameter: ${parameter}, error: strconv.${parser}: parsing ${JSON.stringify(text)}: ${problem}`,
  )

/** strconv.ParseBool. */
export const parseBool = (parameter: string, text: string): boolean | Answer => {
  if (TRUE.has(text)) return true
  return FALSE.has(text) ? false : mismatch(parameter, 'ParseBool', text, 'invalid syntax')
}

/** strconv.ParseInt with base 10 and 64 bits. */
export const parseInt64 = (parameter: string, text: string): bigint | Answer => {
  if (!/^[+-]?[0-9]+$/.test(text)) return mismatch(parameter, 'ParseInt', text, 'invalid syntax')
  const value = BigInt(text.replace(/^\+/, ''))
  return value > INT64_MAX || value < INT64_MIN
    ? mismatch(parameter, 'ParseInt', text, 'value out of range')
    : value
}

const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/**
 * Fields of a request body as protojson reads them: each under its own or its camelCase name, int64 as number or text,
 * unknown ones ignored, missing ones 0 or "".
 */
export const readBody = <const I extends string, const T extends string>(
  body: string,
  fields: { readonly integers: readonly I[]; readonly texts: readonly T[] },
): ({ readonly [K in I]: bigint } & { readonly [K in T]: string }) | Answer => {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return refused(3, `${PROTO}syntax error (line 1:1): invalid request body`)
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    return refused(3, `${PROTO}syntax error (line 1:1): unexpected token`)
  const spans = memberSpans(body)
  const values = new Map<string, bigint | string>()
  for (const name of [...fields.integers, ...fields.texts]) {
    const span = spans.get(name) ?? spans.get(camelCase(name))
    const wanted = (fields.integers as readonly string[]).includes(name) ? 'int64' : 'string'
    if (span === undefined) {
      values.set(name, wanted === 'int64' ? 0n : '')
      continue
    }
    const written = body.slice(...span)
    const value = wanted === 'int64' ? integerIn(written) : textIn(written)
    if (value === undefined)
      return refused(3, `${PROTO}(line 1:${span[0] + 1}): invalid value for ${wanted} type: ${written}`)
    values.set(name, value)
  }
  return Object.fromEntries(values) as { [K in I]: bigint } & { [K in T]: string }
}

const integerIn = (written: string): bigint | undefined => {
  const digits = /^"?(-?[0-9]+)"?$/.exec(written)?.[1]
  return digits === undefined ? undefined : BigInt(digits)
}

const textIn = (written: string): string | undefined =>
  written.startsWith('"') ? (JSON.parse(written) as string) : undefined
