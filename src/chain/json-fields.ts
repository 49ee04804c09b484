import { Failure } from '#failure/failure.ts'
import { type Bound, DEPTH, IN_TRANSACTION, INT64, isInt64, MAX_GAS, PARTS } from './bounds.ts'
import { measureJson } from './json.ts'

/**
 * Strict parsing of a node's JSON: every value has the promised form, or Failure 'bad_block' gives its path,
 * the value and the rule. Nothing is coerced, and nothing is longer or deeper than `bounds.ts` allows. A text
 * or a list without a bound of its own has that of a transaction.
 */

/** The path of a value, from the outermost name inwards; joined only for an error. */
export type Path = { readonly above?: Path; readonly key: string | number }
export type JsonFields = { readonly [key: string]: unknown }

const INTEGER = /^-?(?:0|[1-9][0-9]*)$/
/** Number of characters of a wrong value that a message repeats. */
const SHOWN = 80

function pathText(path: Path): string {
  const own = typeof path.key === 'number' ? `[${path.key}]` : path.key
  if (path.above === undefined) return own
  return typeof path.key === 'number' ? `${pathText(path.above)}${own}` : `${pathText(path.above)}.${own}`
}

function quoteValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(typeof value === 'string' ? value.slice(0, SHOWN) : value)
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}

/** The Failure for an invalid value: `block.number: "x" is not …`. */
export const invalidValue = (path: Path, value: unknown, rule: string): Failure =>
  new Failure('bad_block', `${pathText(path)}: ${quoteValue(value)} is not ${rule}.`)

/** The Failure for a value over its bound: `block.version: 10000000 characters are more than 20: …`. */
export const overBound = (path: Path, found: string, { most, rule }: Bound): Failure =>
  new Failure('bad_block', `${pathText(path)}: ${found} are more than ${most}: ${rule}.`)

/** Returns the text. Throws Failure 'bad_block' when it is longer than the bound. */
export function requireShortText(text: string, path: Path, bound: Bound): string {
  if (text.length > bound.most) throw overBound(path, `${text.length} characters`, bound)
  return text
}

/** The escapes of a JSON text: a surrogate pair, a lone surrogate (captured), any other. */
const ESCAPE = /\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)/gs

/** The first escaped lone surrogate. The chain's texts have none, and bytes of others could hide in it. */
function halfLetter(text: string): string | undefined {
  if (!text.includes('\\ud') && !text.includes('\\uD')) return undefined
  for (const [, half] of text.matchAll(ESCAPE)) if (half !== undefined) return half
  return undefined
}

/**
 * Parses an answer. Throws Failure 'bad_block' for text that is not JSON (cut answers), for text nested so
 * deep that recursive code could overflow, for text with so many parts that they would fill the memory, and for lone
 * surrogates (`\ud800`), which nodes write as U+FFFD.
 */
export function parseAnswer(text: string, name: string): unknown {
  const { depth, parts } = measureJson(text)
  if (depth > DEPTH.most) throw overBound({ key: name }, `${depth} brackets inside each other`, DEPTH)
  if (parts > PARTS.most) throw overBound({ key: name }, `${parts} texts, brackets and commas`, PARTS)
  const half = halfLetter(text)
  if (half !== undefined) throw invalidValue({ key: name }, `\\${half}`, 'a whole character, and nodes write no other')
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Failure('bad_block', `${name}: ${text.length} characters that are not JSON.`, { cause })
  }
}

export function expectObject(value: unknown, path: Path): JsonFields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidValue(path, value, 'an object')
  return value as JsonFields
}

export const requireObject = (fields: JsonFields, key: string, above: Path): JsonFields =>
  expectObject(fields[key], { above, key })

// biome-ignore lint/complexity/useMaxParams: read for every field of every block; a record would be one more object a call.
export function requireList(
  fields: JsonFields,
  key: string,
  above: Path,
  bound: Bound = IN_TRANSACTION,
): readonly unknown[] {
  const value = fields[key]
  if (!Array.isArray(value)) throw invalidValue({ above, key }, value, 'a list')
  if (value.length > bound.most) throw overBound({ above, key }, `${value.length} entries`, bound)
  return value
}

// biome-ignore lint/complexity/useMaxParams: read for every field of every block; a record would be one more object a call.
export function requireText(fields: JsonFields, key: string, above: Path, bound: Bound = IN_TRANSACTION): string {
  const value = fields[key]
  if (typeof value !== 'string') throw invalidValue({ above, key }, value, 'a text')
  return value.length > bound.most ? requireShortText(value, { above, key }, bound) : value
}

/** A text that some versions of nodes leave out. */
// biome-ignore lint/complexity/useMaxParams: read for every field of every block; a record would be one more object a call.
export const getOptionalText = (fields: JsonFields, key: string, above: Path, bound?: Bound): string =>
  fields[key] === undefined || fields[key] === null ? '' : requireText(fields, key, above, bound)

// biome-ignore lint/complexity/useMaxParams: read for every field of every block; a record would be one more object a call.
export function requireTexts(
  fields: JsonFields,
  key: string,
  above: Path,
  bound: Bound = IN_TRANSACTION,
): readonly string[] {
  const list = requireList(fields, key, above)
  list.forEach((value, index) => {
    const path = { above: { above, key }, key: index }
    if (typeof value !== 'string') throw invalidValue(path, value, 'a text')
    requireShortText(value, path, bound)
  })
  return list as readonly string[]
}

/** An int64: the node writes it as a string of digits, never as a number. */
export function expectInt64(value: unknown, path: Path): bigint {
  if (typeof value === 'string' && value.length > INT64.most) throw overBound(path, `${value.length} characters`, INT64)
  if (typeof value !== 'string' || !INTEGER.test(value)) throw invalidValue(path, value, 'an integer in a string')
  const integer = BigInt(value)
  if (!isInt64(integer)) throw invalidValue(path, value, 'within 64 bits')
  return integer
}

export function requireInt64(fields: JsonFields, key: string, above: Path): bigint {
  const value = fields[key]
  return expectInt64(value, { above, key })
}

/** An int64 that counts something: 0 … 2^53 − 1. */
export function requireCount(fields: JsonFields, key: string, above: Path): number {
  const integer = requireInt64(fields, key, above)
  if (integer < 0n || integer > BigInt(Number.MAX_SAFE_INTEGER))
    throw invalidValue({ above, key }, fields[key], 'a count below 2^53')
  return Number(integer)
}

const MIN_INT32 = -(2 ** 31)
const MAX_UINT32 = 2 ** 32 - 1

/** An int32 or uint32: a JSON number. */
export function requireInteger(fields: JsonFields, key: string, above: Path): number {
  const value = fields[key]
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw invalidValue({ above, key }, value, 'an integer')
  if (value < MIN_INT32 || value > MAX_UINT32) throw invalidValue({ above, key }, value, 'within 32 bits')
  return value
}

/**
 * A double ≥ 0 as decimal text. The node prints the shortest digits that give the double, like JavaScript, so
 * the text is the node's own except for the exponent form.
 */
export function requireDecimal(fields: JsonFields, key: string, above: Path): string {
  const value = fields[key]
  if (typeof value !== 'number' || value < 0) throw invalidValue({ above, key }, value, 'a number from 0')
  const text = String(value)
  if (!/^[0-9]+(?:\.[0-9]+)?$/.test(text))
    throw invalidValue({ above, key }, value, 'a decimal number without exponent')
  if (value > MAX_GAS) throw invalidValue({ above, key }, value, `at most ${MAX_GAS}, far above the gas of a block`)
  return text
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Bytes in a storage form: base64. Throws Failure 'bad_block'. */
// biome-ignore lint/complexity/useMaxParams: read for every field of every block; a record would be one more object a call.
export function requireBase64(fields: JsonFields, key: string, above: Path, bound?: Bound): Uint8Array {
  const text = requireText(fields, key, above, bound)
  if (!BASE64.test(text)) throw invalidValue({ above, key }, text, 'base64')
  return Uint8Array.fromBase64(text)
}
