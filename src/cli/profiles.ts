import type { Profile } from '#actions/define.ts'

const TEXTS = [
  'alias',
  'alias_en',
  'description',
  'description_en',
  'logo',
  'statement',
  'statement_en',
  'type',
  'type_en',
] as const
const SOCIAL = 'social_media.'

/**
 * Parses an operator's texts about producers, by the producer's account. The text is JSON or CSV. JSON: an
 * array of objects with `producer`, the texts of `Profile` and `social_media` (an object of texts). CSV (RFC
 * 4180): a header line with the same names, and `social_media.twitter` and the like for the parts. A missing
 * field becomes `""` or `{}`. Throws for an unknown field, and for a producer that occurs twice.
 */
export function parseProfiles(text: string): ReadonlyMap<string, Profile> {
  const profiles = new Map<string, Profile>()
  for (const row of /^\s*\[/.test(text) ? jsonRows(text) : csvRows(text)) {
    const producer = row.get('producer') ?? ''
    if (producer === '') throw new TypeError('a profile has no producer')
    if (profiles.has(producer)) throw new TypeError(`producer ${producer} is given twice`)
    profiles.set(producer, toProfile(row))
  }
  return profiles
}

type Row = ReadonlyMap<string, string>

function toProfile(row: Row): Profile {
  const social: Record<string, string> = {}
  for (const [name, value] of row) {
    if (name.startsWith(SOCIAL) && value !== '') social[name.slice(SOCIAL.length)] = value
    else if (name !== 'producer' && !name.startsWith(SOCIAL) && !TEXTS.some(known => known === name))
      throw new TypeError(`'${name}' is not a field of a profile`)
  }
  const texts = Object.fromEntries(TEXTS.map(name => [name, row.get(name) ?? '']))
  return { ...(texts as Record<(typeof TEXTS)[number], string>), social_media: social }
}

function jsonRows(text: string): readonly Row[] {
  const rows: unknown = JSON.parse(text)
  if (!Array.isArray(rows)) throw new TypeError('the text is not an array')
  return rows.map((row: unknown) => {
    if (typeof row !== 'object' || row === null) throw new TypeError('a profile is not an object')
    return new Map(Object.entries(row).flatMap(([name, value]) => fields(name, value)))
  })
}

function fields(name: string, value: unknown): readonly (readonly [string, string])[] {
  if (typeof value === 'string') return [[name, value]]
  if (name !== 'social_media' || typeof value !== 'object' || value === null)
    throw new TypeError(`'${name}' of a profile is not a string`)
  return Object.entries(value).flatMap(([part, link]) => {
    if (typeof link !== 'string') throw new TypeError(`'${SOCIAL}${part}' of a profile is not a string`)
    return [[`${SOCIAL}${part}`, link] as const]
  })
}

function csvRows(text: string): readonly Row[] {
  const [header, ...lines] = csvLines(text.replace(/^\ufeff/, ''))
  if (header === undefined) throw new TypeError('the text is empty')
  return lines.map(cells => {
    if (cells.length !== header.length)
      throw new TypeError(`a line has ${cells.length} cells, but the header has ${header.length}`)
    return new Map(header.map((name, at) => [name.trim(), cells[at] ?? ''] as const))
  })
}

/**
 * Splits CSV by RFC 4180: cells may be quoted, a quote inside is doubled, and a quoted cell may contain
 * commas and line ends.
 */
function csvLines(text: string): readonly (readonly string[])[] {
  const lines: string[][] = []
  let line: string[] = []
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y
  while (cell.lastIndex < text.length) {
    const at = cell.lastIndex
    const [, quoted, plain = '', end = ''] = cell.exec(text) ?? []
    if (cell.lastIndex === 0) throw new TypeError(`a quote is out of place near character ${at}`)
    line.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === ',' && cell.lastIndex < text.length) continue
    if (end === ',') line.push('')
    if (line.length > 1 || line[0] !== '') lines.push(line)
    line = []
  }
  return lines
}
