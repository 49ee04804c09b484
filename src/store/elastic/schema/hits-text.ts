import { afterString } from '#chain/json-text.ts'
import type { DocOf, Index } from '#indices/define.ts'
import type { Field } from '#indices/fields.ts'

/**
 * The documents of a search's answer, read from its text as `encode` wrote them: parsing it as JSON takes three times as
 * long, since an engine looks up each short text of it in a table of all texts (the places of twenty rows are some 150).
 * undefined: something in it is otherwise, as it is when a proxy or another program wrote it.
 */
export const docsInHits = <I extends Index>(index: I, text: string): readonly DocOf<I>[] | undefined => {
  const first = text.indexOf(HITS)
  if (first === -1 || !text.endsWith(END)) return undefined
  const docs: DocOf<I>[] = []
  const fields = fieldsOf(index)
  // A quote within a text of JSON has a backslash before it, so a key is found nowhere else.
  for (let at = text.indexOf(ID, first); at !== -1; at = text.indexOf(ID, at)) {
    const from = at + ID.length
    const to = text.indexOf('"', from)
    at = text.indexOf(SOURCE, to)
    const id = text.slice(from, to)
    if (at === -1 || id.includes('\\')) return undefined
    const doc: Record<string, unknown> = { id }
    at = readFields(text, at + SOURCE.length, { fields, doc })
    if (text[at] !== ',' && text[at] !== '}') return undefined
    docs.push(doc as DocOf<I>)
  }
  return docs
}

const HITS = '"hits":['
const ID = '"_id":"'
const SOURCE = ',"_source":{'
const END = ']}}'

/** A field and its key as it stands before the value. */
type Entry = { readonly name: string; readonly key: string; readonly field: Field }

const entries = new WeakMap<Index, readonly Entry[]>()
const fieldsOf = (index: Index): readonly Entry[] => {
  const known = entries.get(index)
  if (known !== undefined) return known
  const made = Object.entries(index.fields).map(([name, field], at) => ({
    name,
    key: `${at === 0 ? '' : ','}"${name}":`,
    field,
  }))
  entries.set(index, made)
  return made
}

/** Where the fields end; -1: they are not as they are written. */
const readFields = (
  text: string,
  from: number,
  { fields, doc }: { readonly fields: readonly Entry[]; readonly doc: Record<string, unknown> },
): number => {
  let at = from
  for (let n = 0; n < fields.length; n++) {
    const { name, key, field } = fields[n] as Entry
    if (!text.startsWith(key, at)) {
      if (field.optional) continue
      return -1
    }
    const start = at + key.length
    at = endOf(field, text, start)
    if (at <= start) return -1
    doc[name] = readValue(field, text, [start, at])
  }
  return at
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Where the value of a field ends; -1: it is none that is written for the field. */
const endOf = ({ kind }: Field, text: string, at: number): number => {
  switch (kind) {
    case 'int':
      return afterDigits(text, at)
    case 'bool':
      if (text.startsWith('true', at)) return at + 'true'.length
      return text.startsWith('false', at) ? at + 'false'.length : -1
    case 'long': {
      if (text.charCodeAt(at) !== QUOTE) return -1
      const end = afterDigits(text, text[at + 1] === '-' ? at + 2 : at + 1)
      return text.charCodeAt(end) === QUOTE ? end + 1 : -1
    }
    case 'keyword':
    case 'text':
    case 'hash':
    case 'hashes':
    case 'word':
    case 'packed': {
      if (text.charCodeAt(at) !== QUOTE) return -1
      const end = text.indexOf('"', at + 1)
      return text.charCodeAt(end - 1) === BACKSLASH ? afterString(text, at) : end + 1
    }
    default:
      // Not among what pages of lists show.
      return -1
  }
}

const afterDigits = (text: string, from: number): number => {
  let at = from
  for (let letter = text.charCodeAt(at); letter >= 0x30 && letter <= 0x39; letter = text.charCodeAt(at)) at++
  return at === from ? -1 : at
}

const readValue = ({ kind }: Field, text: string, [from, to]: readonly [number, number]): unknown => {
  switch (kind) {
    case 'int':
      return Number(text.slice(from, to))
    case 'bool':
      return to - from === 'true'.length
    case 'long':
      return BigInt(text.slice(from + 1, to - 1))
    default: {
      const inner = text.slice(from + 1, to - 1)
      return inner.includes('\\') ? (JSON.parse(text.slice(from, to)) as string) : inner
    }
  }
}
