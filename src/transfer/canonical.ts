import type { Field } from '#indices/fields.ts'
import { lists } from '#indices/list.ts'
import type { AnyIndex } from '#indices/registry.ts'

/** A field, and how its value becomes text. */
type Part = { readonly name: string; readonly text: (value: unknown) => string }

/** Texts have their length in front, so that no two documents have the same text. */
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

/** Fields that say how a store has cut its history, which depends on the store and not on the chain alone. */
const isOfLayout = (index: AnyIndex, name: string): boolean => index === lists && name === 'starts'

const partsOf = (index: AnyIndex): readonly Part[] =>
  Object.entries<Field>(index.fields)
    .filter(([name]) => !isOfLayout(index, name))
    .map(([name, { kind }]) => ({ name, text: TEXTS[kind] }))

const known = new WeakMap<AnyIndex, readonly Part[]>()

/**
 * A document as one text that is the same in every store, and the text of no other document: its id, then its fields in the
 * order of the index; `~`, with which no value begins, stands for a field that is absent.
 */
export const canonicalText = (index: AnyIndex, doc: { readonly id: string }): string => {
  let parts = known.get(index)
  if (parts === undefined) {
    parts = partsOf(index)
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
