import type { Index } from '#indices/define.ts'
import type { Field, FieldKind } from '#indices/fields.ts'

/**
 * Documents of one index in a message between threads: all texts joined, all numbers in arrays, which costs a
 * fraction of a structured clone of the objects. The receiver reads the documents in the order of packing.
 */
export type DocumentMessage = {
  readonly index: string
  readonly documents: number
  readonly texts: string
  readonly lengths: Uint32Array
  readonly numbers: Float64Array
  readonly longs: BigInt64Array
}

/** Length that marks an absent text; no text is that long. */
const ABSENT = 0xff_ff_ff_ff

/**
 * The encoding of a field's value. `long` and `places` also take a number: whether the value exists, and how
 * many places.
 */
type Encoding = 'text' | 'json' | 'number' | 'bool' | 'long' | 'places'

const ENCODINGS: Readonly<Record<FieldKind, Encoding>> = {
  keyword: 'text',
  text: 'text',
  hash: 'text',
  hashes: 'text',
  word: 'text',
  packed: 'text',
  digits: 'text',
  long: 'long',
  hash8: 'long',
  int: 'number',
  bool: 'bool',
  json: 'json',
  places: 'places',
}

type Doc = Readonly<Record<string, unknown>>
type Column = { readonly name: string; readonly encoding: Encoding; readonly optional: boolean }

const columnsOf = (index: Index): readonly Column[] => {
  const known = members.get(index.name)
  if (known !== undefined) return known
  const fresh = [
    { name: 'id', encoding: 'text', optional: false } as const,
    ...Object.entries(index.fields).map(([name, { kind, optional }]: readonly [string, Field]) => ({
      name,
      encoding: ENCODINGS[kind],
      optional,
    })),
  ]
  members.set(index.name, fresh)
  return fresh
}
const members = new Map<string, readonly Column[]>()

/** State of packing; the arrays have room for all values except lists of places. */
type Packing = {
  readonly texts: string[]
  readonly lengths: Uint32Array
  readonly numbers: Float64Array
  readonly longs: bigint[]
  length: number
  number: number
}

const packingOf = (columns: readonly Column[], documents: number): Packing => {
  const texts = columns.filter(({ encoding }) => encoding === 'text' || encoding === 'json').length
  return {
    texts: [],
    lengths: new Uint32Array(documents * texts),
    numbers: new Float64Array(documents * (columns.length - texts)),
    longs: [],
    length: 0,
    number: 0,
  }
}

/**
 * Packs documents. undefined: a document has a value that its field cannot hold. Writing it without a thread
 * throws the right error.
 */
export const packDocuments = (index: Index, docs: readonly object[]): DocumentMessage | undefined => {
  const columns = columnsOf(index)
  const packing = packingOf(columns, docs.length)
  for (const doc of docs)
    for (let at = 0; at < columns.length; at += 1) {
      const member = columns[at] as Column
      if (!put(packing, member, (doc as Doc)[member.name])) return undefined
    }
  const { texts, lengths, numbers, longs } = packing
  return {
    index: index.name,
    documents: docs.length,
    texts: texts.join(''),
    lengths,
    numbers,
    longs: BigInt64Array.from(longs),
  }
}

/** false: the field cannot hold the value. */
const put = (to: Packing, { encoding, optional }: Column, value: unknown): boolean => {
  if (value === undefined) return optional && putAbsent(to, encoding)
  switch (encoding) {
    case 'text':
      return typeof value === 'string' && putText(to, value)
    case 'number':
      return typeof value === 'number' && Number.isSafeInteger(value) && putNumber(to, value)
    case 'long':
      return putNumber(to, 1) && putLong(to, value)
    case 'bool':
      return typeof value === 'boolean' && putNumber(to, value ? 1 : 0)
    case 'json':
      return putText(to, JSON.stringify(value))
    case 'places':
      return Array.isArray(value) && putNumber(to, value.length) && putLongs(to, value)
  }
}

const putAbsent = (to: Packing, encoding: Encoding): boolean => {
  if (encoding !== 'text' && encoding !== 'json') return putNumber(to, encoding === 'long' ? 0 : Number.NaN)
  to.lengths[to.length++] = ABSENT
  return true
}

const putText = (to: Packing, text: string): boolean => {
  to.texts.push(text)
  to.lengths[to.length++] = text.length
  return true
}

const putNumber = (to: Packing, number: number): boolean => {
  to.numbers[to.number++] = number
  return true
}

const putLong = ({ longs }: Packing, value: unknown): boolean => {
  if (typeof value !== 'bigint' || BigInt.asIntN(64, value) !== value) return false
  longs.push(value)
  return true
}

const putLongs = (to: Packing, values: readonly unknown[]): boolean => {
  for (let at = 0; at < values.length; at += 1) if (!putLong(to, values[at])) return false
  return true
}

/** The packed documents, one by one. */
export function* unpackDocuments(index: Index, message: DocumentMessage): Generator<object, void, void> {
  const columns = columnsOf(index)
  const from: Reading = { message, text: 0, length: 0, number: 0, long: 0 }
  for (let count = 0; count < message.documents; count += 1) {
    const doc: Record<string, unknown> = {}
    for (const { name, encoding } of columns) {
      const value = take(from, encoding)
      if (value !== undefined) doc[name] = value
    }
    yield doc
  }
}

/** The read positions in a message. */
type Reading = {
  readonly message: DocumentMessage
  text: number
  length: number
  number: number
  long: number
}

const take = (from: Reading, encoding: Encoding): unknown => {
  switch (encoding) {
    case 'text':
      return takeText(from)
    case 'json': {
      const text = takeText(from)
      return text === undefined ? undefined : JSON.parse(text)
    }
    case 'number':
      return takeNumber(from)
    case 'bool': {
      const number = takeNumber(from)
      return number === undefined ? undefined : number === 1
    }
    case 'long':
      return takeNumber(from) === 0 ? undefined : takeLong(from)
    case 'places': {
      const count = takeNumber(from)
      return count === undefined ? undefined : Array.from({ length: count }, () => takeLong(from))
    }
  }
}

const takeText = (from: Reading): string | undefined => {
  const length = from.message.lengths[from.length] ?? ABSENT
  from.length += 1
  if (length === ABSENT) return undefined
  const begin = from.text
  from.text += length
  return from.message.texts.slice(begin, from.text)
}

/** undefined: the value is absent. */
const takeNumber = (from: Reading): number | undefined => {
  const number = from.message.numbers[from.number]
  from.number += 1
  return Number.isNaN(number) ? undefined : number
}

const takeLong = (from: Reading): bigint | undefined => {
  const long = from.message.longs[from.long]
  from.long += 1
  return long
}
