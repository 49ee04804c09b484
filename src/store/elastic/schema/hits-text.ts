import type { DocOf, Index } from '#indices/define.ts'
import type { Field } from '#indices/fields.ts'

/**
 * The documents of a search's answer, read from the text that `encode` wrote. Parsing it as JSON takes three
 * times as long, because an engine interns each short text (the places of twenty rows are some 150).
 * undefined: the text has another form, as when a proxy or another program wrote it.
 */
export const docsInHits = <I extends Index>(index: I, text: string): readonly DocOf<I>[] | undefined => {
  const first = text.indexOf(HITS)
  if (first === -1 || !text.endsWith(END)) return undefined
  const { pattern, entries } = formOf(index)
  const docs: DocOf<I>[] = []
  // A quote within a JSON text has a backslash before it, so a key matches nowhere else.
  for (let at = text.indexOf(ID, first); at !== -1; at = text.indexOf(ID, pattern.lastIndex)) {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found === null) return undefined
    const doc: Record<string, unknown> = { id: found[1] }
    for (let n = 0; n < entries.length; n++) {
      const own = found[n + 2]
      const { name, kind } = entries[n] as Entry
      if (own !== undefined) doc[name] = valueFrom(kind, own)
    }
    docs.push(doc as DocOf<I>)
  }
  return docs
}

const HITS = '"hits":['
const ID = '"_id":"'
const END = ']}}'

type Entry = { readonly name: string; readonly kind: Field['kind'] }
/** `pattern` matches a hit from its id to its last field; the id and each field are groups. */
type Form = { readonly pattern: RegExp; readonly entries: readonly Entry[] }

const forms = new WeakMap<Index, Form>()
const formOf = (index: Index): Form => {
  const known = forms.get(index)
  if (known !== undefined) return known
  const fields = Object.entries(index.fields)
  const keyed = fields.map(([name, { kind, optional }], at) => {
    const pair = `${at === 0 ? '' : ','}"${name}":${VALUES[kind] ?? NEVER}`
    return optional ? `(?:${pair})?` : pair
  })
  const made = {
    pattern: new RegExp(`"_id":"([^"\\\\]*)"(?:,"_score":[^,"]*)?,"_source":\\{${keyed.join('')}(?=[,}])`, 'y'),
    entries: fields.map(([name, { kind }]) => ({ name, kind })),
  }
  forms.set(index, made)
  return made
}

const TEXT = '"([^"\\\\]*(?:\\\\.[^"\\\\]*)*)"'
/** For kinds of fields that pages of lists do not show. */
const NEVER = '(?!)()'
/** Patterns of values in the text of a document, by kind of field. */
const VALUES: Readonly<Partial<Record<Field['kind'], string>>> = {
  int: '(\\d+)',
  bool: '(true|false)',
  long: '"(-?\\d+)"',
  keyword: TEXT,
  text: TEXT,
  hash: TEXT,
  hashes: TEXT,
  word: TEXT,
  packed: TEXT,
}

const valueFrom = (kind: Field['kind'], text: string): unknown => {
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
