import { Buffer } from 'node:buffer'
import { isInt64 } from '#chain/bounds.ts'
import { parseJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import type { DocOf, Field, Index } from '#indices/define.ts'
import { missingData } from '#store/failures.ts'
import { AT, BEFORE } from './mappings.ts'
import { GROUP, getFirstOrder, getStateIndex, getStoredNames, KIND, NAMED, toStateId } from './names.ts'

const hashBytes = Buffer.alloc(8)

/** The stored and searched term of a field of kind `hash8`: shorter than the number. */
export function formatHashTerm(value: bigint): string {
  hashBytes.writeBigInt64BE(value)
  return `h${hashBytes.toString('base64url')}`
}

/** undefined: a search for the value would not find this term. Throws unless it is a term or a number. */
function parseHashTerm(term: string): bigint | undefined {
  // Earlier versions stored numbers, which a migration reads.
  if (!term.startsWith('h')) return BigInt(term)
  const value = Buffer.from(term.slice(1), 'base64url').readBigInt64BE()
  return formatHashTerm(value) === term ? value : undefined
}

/** `_source` of a document as parsed by JSON.parse; exact, because every 64-bit number in it is text. */
export type DocSource = Readonly<Record<string, unknown>>

/** Limits of Elasticsearch, in bytes of UTF-8. */
export const MAX_ID_BYTES = 512
const MAX_TERM_BYTES = 32_766

/**
 * A document as the text of its `_source`. Throws 'defect' on values that Elasticsearch would refuse, because
 * none of a committed batch's documents may be refused.
 */
export function encodeDoc(index: Index, doc: { readonly id: string }): string {
  const { kind, fields } = getForm(index)
  if (doc.id === '' || !isPossibleId(toStoredId(index, doc.id)))
    throw new Failure(
      'defect',
      `Id '${doc.id}' of ${index.name} has ${Buffer.byteLength(doc.id)} bytes; it must have 1 to ${MAX_ID_BYTES - toStoredId(index, '').length} bytes of UTF-8.`,
    )
  const values = doc as unknown as DocSource
  const written = [...kind]
  for (const [name, field, stored] of fields) {
    const value = values[name]
    if (value === undefined && field.optional) continue
    const text = encodeValue(field, value)
    if (text === undefined)
      throw new Failure(
        'defect',
        `Field '${name}' of ${index.name} '${doc.id}' is not a ${field.kind} that can be stored: ${formatExcerpt(value)}.`,
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
export function readFormerDoc(source: DocSource): Before<DocSource> | undefined {
  return source[BEFORE] as Before<DocSource> | undefined
}

function toStoredId(index: Index, id: string): string {
  return index.kind === 'state' ? toStateId(index, id) : id
}

type FieldEntry = readonly [name: string, field: Field, stored: string]
/** The fields of an index, and the text of those by which the index `state` tells its kinds apart. */
type DocForm = { readonly fields: readonly FieldEntry[]; readonly kind: readonly string[] }

/** Cached, because every document needs it. */
const forms = new WeakMap<Index, DocForm>()
function getForm(index: Index): DocForm {
  const known = forms.get(index)
  if (known !== undefined) return known
  const common = getStoredNames(index)
  const first = getFirstOrder(index)
  const isOfMany = index.kind === 'state' && getStateIndex(index) === 'state'
  const made = {
    fields: Object.entries(index.fields).map(([name, field]): FieldEntry => [name, field, common[name] ?? name]),
    kind: [
      ...(isOfMany ? [`"${KIND}":"${index.name}"`] : []),
      // A sort value that is missing cannot be continued from.
      ...(first !== undefined && first.group === undefined ? [`"${GROUP}":""`] : []),
    ],
  }
  forms.set(index, made)
  return made
}

export function isPossibleId(id: string): boolean {
  return id !== '' && countBytes(id, MAX_ID_BYTES) <= MAX_ID_BYTES && id.isWellFormed()
}

/** Bytes of UTF-8; for a text that is too short to exceed `limit`, its length. */
function countBytes(text: string, limit: number): number {
  return text.length * 3 <= limit ? text.length : Buffer.byteLength(text)
}

function formatExcerpt(value: unknown): string {
  return String(value).slice(0, 80)
}

/** undefined: the value is not of the field's kind. Lone surrogates, which UTF-8 cannot encode, become U+FFFD. */
function encodeValue(field: Field, value: unknown): string | undefined {
  switch (field.kind) {
    case 'keyword':
      return isTerm(value) ? JSON.stringify(value.toWellFormed()) : undefined
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
      return JSON.stringify(JSON.stringify(value))
    case 'places':
      return arePlaces(value) ? `[${value.map(place => `"${place}"`).join(',')}]` : undefined
    case 'hash8':
      return isInt64(value) ? `"${formatHashTerm(value)}"` : undefined
  }
}

function arePlaces(value: unknown): value is readonly bigint[] {
  return Array.isArray(value) && value.every(isInt64)
}

function isTerm(value: unknown): value is string {
  return typeof value === 'string' && countBytes(value, MAX_TERM_BYTES) <= MAX_TERM_BYTES
}

export function decodeDoc<I extends Index>(index: I, id: string, source: DocSource): DocOf<I> {
  const doc: Record<string, unknown> = { id }
  const { kind, fields } = getForm(index)
  if (kind.length > 0 && source[KIND] !== index.name)
    throw missingData(`Document '${id}' of ${index.name} is stored as one of ${formatExcerpt(source[KIND])}.`)
  // Takes half the time of an iterator over the fields; a page has some 300 values.
  for (let at = 0; at < fields.length; at++) {
    const [name, field, stored] = fields[at] as FieldEntry
    const value = source[stored]
    if (value === undefined && field.optional) continue
    const read = value === undefined || value === null ? undefined : decodeValue(field.kind, value)
    if (read === undefined) throw missingData(`Field '${name}' of ${index.name} '${id}' cannot be read.`)
    doc[name] = read
  }
  // Every field of the index was read above.
  return doc as DocOf<I>
}

/** The value of a field in `_source`; undefined: this program does not write such a value. */
function decodeValue(kind: Field['kind'], value: unknown): unknown {
  try {
    switch (kind) {
      case 'long':
        return BigInt(value as string)
      case 'json':
        return parseJson(value as string)
      case 'places':
        return (value as readonly string[]).map(BigInt)
      case 'hash8':
        return parseHashTerm(value as string)
      default:
        return value
    }
  } catch {
    return undefined
  }
}

/**
 * The documents of a search's answer, read from the text that `encodeDoc` wrote. Parsing it as JSON takes three
 * times as long, because an engine interns each short text (the places of twenty rows are some 150).
 * undefined: the text has another form, as when a proxy or another program wrote it.
 */
export function parseHitDocs<I extends Index>(index: I, text: string): readonly DocOf<I>[] | undefined {
  const first = text.indexOf('"hits":[')
  if (first === -1 || !text.endsWith(']}}')) return undefined
  const { pattern, entries } = getHitForm(index)
  const idStart = '"_id":"'
  const docs: DocOf<I>[] = []
  // A quote within a JSON text has a backslash before it, so a key matches nowhere else.
  for (let at = text.indexOf(idStart, first); at !== -1; at = text.indexOf(idStart, pattern.lastIndex)) {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found === null) return undefined
    const doc: Record<string, unknown> = { id: found[1] }
    for (let n = 0; n < entries.length; n++) {
      const own = found[n + 2]
      const { name, kind } = entries[n] as HitEntry
      if (own !== undefined) doc[name] = parseValue(kind, own)
    }
    docs.push(doc as DocOf<I>)
  }
  return docs
}

type HitEntry = { readonly name: string; readonly kind: Field['kind'] }
/** `pattern` matches a hit from its id to its last field; the id and each field are groups. */
type HitForm = { readonly pattern: RegExp; readonly entries: readonly HitEntry[] }

const hitForms = new WeakMap<Index, HitForm>()
function getHitForm(index: Index): HitForm {
  const known = hitForms.get(index)
  if (known !== undefined) return known
  const fields = Object.entries(index.fields)
  const keyed = fields.map(([name, { kind, optional }], at) => {
    // Pages of lists show no fields of other kinds.
    const pair = `${at === 0 ? '' : ','}"${name}":${VALUE_PATTERNS[kind] ?? '(?!)()'}`
    return optional ? `(?:${pair})?` : pair
  })
  const made = {
    pattern: new RegExp(`"_id":"([^"\\\\]*)"(?:,"_score":[^,"]*)?,"_source":\\{${keyed.join('')}(?=[,}])`, 'y'),
    entries: fields.map(([name, { kind }]) => ({ name, kind })),
  }
  hitForms.set(index, made)
  return made
}

const TEXT_PATTERN = '"([^"\\\\]*(?:\\\\.[^"\\\\]*)*)"'
/** Patterns of values in the text of a document, by kind of field. */
const VALUE_PATTERNS: Readonly<Partial<Record<Field['kind'], string>>> = {
  int: '(\\d+)',
  bool: '(true|false)',
  long: '"(-?\\d+)"',
  keyword: TEXT_PATTERN,
  text: TEXT_PATTERN,
  hash: TEXT_PATTERN,
  hashes: TEXT_PATTERN,
  word: TEXT_PATTERN,
  packed: TEXT_PATTERN,
}

function parseValue(kind: Field['kind'], text: string): unknown {
  switch (kind) {
    case 'int':
      return Number(text)
    case 'bool':
      return text === 'true'
    case 'long':
      return BigInt(text)
    default:
      return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text
  }
}
