import type { Field } from '#indices/fields.ts'
import { lists } from '#indices/list.ts'
import type { AnyIndex } from '#indices/registry.ts'

/** A field, with the function that turns its value into text. */
type Part = { readonly name: string; readonly text: (value: unknown) => string }

/** Texts are prefixed with their length, so that no two documents have the same canonical text. */
const measured = (text: string): string => `${text.length}:${text}`

const asText = (value: unknown): string => measured(value as string)
const asNumber = (value: unknown): string => `${value};`

const TEXTS: Readonly<Record<Field['kind'], (value: unknown) => string>> = {
  keyword: asText,
  text: asText,
  hash: asText,
  hashes: asText,
  word: asText,
  packed: asText,
  digits: asText,
  long: asNumber,
  int: asNumber,
  hash8: asNumber,
  bool: asNumber,
  json: value => measured(JSON.stringify(value)),
  places: value => measured((value as readonly bigint[]).join()),
}

/** Fields that depend on how a store partitions its history, not on the chain alone. */
const isOfLayout = (index: AnyIndex, name: string): boolean => index === lists && name === 'starts'

const listCanonicalParts = (index: AnyIndex): readonly Part[] =>
  Object.entries<Field>(index.fields)
    .filter(([name]) => !isOfLayout(index, name))
    .map(([name, { kind }]) => ({ name, text: TEXTS[kind] }))

const known = new WeakMap<AnyIndex, readonly Part[]>()

/**
 * The canonical text of a document: the same in every store, and different for any other document. It consists of the
 * id and the fields in the order of the index. `~`, with which no value begins, marks an absent field.
 */
export function canonicalText(index: AnyIndex, doc: { readonly id: string }): string {
  let parts = known.get(index)
  if (parts === undefined) {
    parts = listCanonicalParts(index)
    known.set(index, parts)
  }
  const values = doc as unknown as Readonly<Record<string, unknown>>
  let text = measured(doc.id)
  for (const part of parts) {
    const value = values[part.name]
    text += value === undefined ? '~' : part.text(value)
  }
  return text
}
