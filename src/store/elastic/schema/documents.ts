import { parseJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import type { DocOf, Index } from '#indices/define.ts'
import type { Field } from '#indices/fields.ts'
import { missingData } from '#store/missing-data.ts'
import { fromHashTerm, hashTerm } from './hash-term.ts'
import { AT, BEFORE } from './mappings.ts'
import { firstOrderOf, GROUP, KIND, NAMED, stateIndexOf, storedNamesOf, toStateId } from './state-ids.ts'

/** `_source` of a document as parsed by JSON.parse; exact, because every 64-bit number in it is text. */
export type Source = Readonly<Record<string, unknown>>

const MIN_INT64 = -(2n ** 63n)
const MAX_INT64 = 2n ** 63n - 1n
/** Limits of Elasticsearch, in bytes of UTF-8. */
export const MAX_ID_BYTES = 512
const MAX_TERM_BYTES = 32_766

/**
 * A document as the text of its `_source`. Throws 'defect' on values that Elasticsearch would refuse, because
 * none of a committed batch's documents may be refused.
 */
export const encode = (index: Index, doc: { readonly id: string }): string => {
  const { kind, fields } = formOf(index)
  if (doc.id === '' || !isPossibleId(idIn(index, doc.id)))
    throw new Failure(
      'defect',
      `Id '${doc.id}' of ${index.name} has ${Buffer.byteLength(doc.id)} bytes; it must have 1 to ${MAX_ID_BYTES - idIn(index, '').length} bytes of UTF-8.`,
    )
  const values = doc as unknown as Source
  const written = [...kind]
  for (const [name, field, stored] of fields) {
    const value = values[name]
    if (value === undefined && field.optional) continue
    const text = encodeValue(field, value)
    if (text === undefined)
      throw new Failure(
        'defect',
        `Field '${name}' of ${index.name} '${doc.id}' is not a ${field.kind} that can be stored: ${excerpt(value)}.`,
      )
    written.push(`"${stored}":${text}`)
  }
  const own = kind.length === 0 || index.named === undefined ? undefined : values[index.named]
  if (own !== undefined) written.push(`"${NAMED}":${JSON.stringify(toStateId(index, String(own)))}`)
  return `{${written.join(',')}}`
}

/** What a document of state was at the published height with the stamp `at`; `doc` undefined: there was none. */
export type Before<T> = { readonly at: number; readonly doc?: T | undefined }

/** The text of a document of state with its stamp and what it replaces. */
export function stampText(text: string, at: number, before?: Before<string>): string {
  const doc = before?.doc === undefined ? '' : `,"doc":${before.doc}`
  const replaced = before === undefined ? '' : `,"${BEFORE}":{"at":${before.at}${doc}}`
  return `${text.slice(0, -1)},"${AT}":${at}${replaced}}`
}

/** What a stored document replaced; undefined: it is not one of a batch. */
export function beforeIn(source: Source): Before<Source> | undefined {
  return source[BEFORE] as Before<Source> | undefined
}

const idIn = (index: Index, id: string): string => (index.kind === 'state' ? toStateId(index, id) : id)

type Entry = readonly [name: string, field: Field, stored: string]
/** The fields of an index, and the text of those by which the index `state` tells its kinds apart. */
type Form = { readonly fields: readonly Entry[]; readonly kind: readonly string[] }

/** Cached, because every document needs it. */
const forms = new WeakMap<Index, Form>()
const formOf = (index: Index): Form => {
  const known = forms.get(index)
  if (known !== undefined) return known
  const common = storedNamesOf(index)
  const first = firstOrderOf(index)
  const isOfMany = index.kind === 'state' && stateIndexOf(index) === 'state'
  const made = {
    fields: Object.entries(index.fields).map(([name, field]): Entry => [name, field, common[name] ?? name]),
    kind: [
      ...(isOfMany ? [`"${KIND}":"${index.name}"`] : []),
      // A sort value that is missing cannot be continued from.
      ...(first !== undefined && first.group === undefined ? [`"${GROUP}":""`] : []),
    ],
  }
  forms.set(index, made)
  return made
}

/** Whether Elasticsearch accepts a document with this id. */
export const isPossibleId = (id: string): boolean =>
  id !== '' && bytesUpTo(id, MAX_ID_BYTES) <= MAX_ID_BYTES && id.isWellFormed()

/** Bytes of UTF-8; for a text that is too short to exceed `limit`, its length. */
const bytesUpTo = (text: string, limit: number): number =>
  text.length * 3 <= limit ? text.length : Buffer.byteLength(text)

const excerpt = (value: unknown): string => String(value).slice(0, 80)

/** undefined: the value is not of the field's kind. Lone surrogates, which UTF-8 cannot encode, become U+FFFD. */
const encodeValue = (field: Field, value: unknown): string | undefined => {
  switch (field.kind) {
    case 'keyword':
      return typeof value === 'string' ? encodeTerm(value) : undefined
    case 'text':
    case 'hash':
    case 'hashes':
    case 'word':
    case 'packed':
    case 'digits':
      return typeof value === 'string' ? JSON.stringify(value.toWellFormed()) : undefined
    case 'long':
      return isInt64(value) ? `"${value}"` : undefined
    case 'int':
      return Number.isSafeInteger(value) ? String(value) : undefined
    case 'bool':
      return typeof value === 'boolean' ? String(value) : undefined
    case 'json':
      return value === undefined ? undefined : JSON.stringify(JSON.stringify(value))
    case 'places':
      return Array.isArray(value) ? encodePlaces(value) : undefined
    case 'hash8':
      return encodeHash(value)
  }
}

const encodeTerm = (value: string): string | undefined =>
  bytesUpTo(value, MAX_TERM_BYTES) <= MAX_TERM_BYTES ? JSON.stringify(value.toWellFormed()) : undefined

const encodePlaces = (value: readonly unknown[]): string | undefined =>
  value.every(isInt64) ? `[${value.map(place => `"${place}"`).join(',')}]` : undefined

const encodeHash = (value: unknown): string | undefined => (isInt64(value) ? `"${hashTerm(value)}"` : undefined)

const isInt64 = (value: unknown): value is bigint =>
  typeof value === 'bigint' && value >= MIN_INT64 && value <= MAX_INT64

/** The document in a `_source`. */
export const decode = <I extends Index>(index: I, id: string, source: Source): DocOf<I> => {
  const doc: Record<string, unknown> = { id }
  const { kind, fields } = formOf(index)
  if (kind.length > 0 && source[KIND] !== index.name)
    throw missingData(`Document '${id}' of ${index.name} is stored as one of ${excerpt(source[KIND])}.`)
  // Takes half the time of an iterator over the fields; a page has some 300 values.
  for (let at = 0; at < fields.length; at++) {
    const [name, field, stored] = fields[at] as Entry
    const value = source[stored]
    if (value === undefined && field.optional) continue
    const read = value === undefined || value === null ? undefined : readerOf[field.kind](value)
    if (read === undefined) throw missingData(`Field '${name}' of ${index.name} '${id}' cannot be read.`)
    doc[name] = read
  }
  // The mapping is strict and generated from the same fields.
  return doc as DocOf<I>
}

const asItIs = (value: unknown): unknown => value

/** The reader's result; undefined if it throws. */
const tried =
  (read: (value: unknown) => unknown) =>
  (value: unknown): unknown => {
    try {
      return read(value)
    } catch {
      return undefined
    }
  }

/** Parsers of values in `_source` by kind of field; undefined: this program does not write such a value. */
const readerOf: Readonly<Record<Field['kind'], (value: unknown) => unknown>> = {
  keyword: asItIs,
  text: asItIs,
  hash: asItIs,
  hashes: asItIs,
  word: asItIs,
  packed: asItIs,
  digits: asItIs,
  long: tried(value => BigInt(value as string)),
  int: asItIs,
  bool: asItIs,
  json: tried(value => parseJson(value as string)),
  places: tried(value => (value as readonly string[]).map(BigInt)),
  hash8: tried(value => fromHashTerm(value as string)),
}
