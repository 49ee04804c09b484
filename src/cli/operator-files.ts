import { readFile, stat } from 'node:fs/promises'
import type { PriceHistory, Prices, Profile, Text } from '#actions/define.ts'
import { Exact, type ExactJson, parseExact } from '#chain/json.ts'
import { isPossibleName } from '#chain/names.ts'
import { parseDay } from '#chain/time.ts'
import { Failure, getErrorMessage, type Log, removeSecrets } from '#failure/failure.ts'
import { ACCEPTED_CODING, fetchPeer, readBody } from '#peer/fetch-peer.ts'
import { type Clock, runEvery } from '#time/clock.ts'
import type { Values } from './settings.ts'

const MAX_SHOWN = 60

/** A line of an operator's file for messages: in quotes, and shortened if it is long. */
const shownLine = (line: string): string =>
  JSON.stringify(line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line)

/** Reads the lines of a file that are not empty. `read` returns the fault of a line; the first one is thrown with its number. */
function readLines(text: string, read: (line: string, at: number) => string | undefined): void {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/)
  for (const [at, line] of lines.entries()) {
    const fault = line === '' ? undefined : read(line, at)
    if (fault !== undefined) throw new RangeError(`line ${at + 1}, ${shownLine(line)}, ${fault}`)
  }
}

/** Maximum number of labels: more would slow down each search of the pages. */
const MAX_LABELS = 10_000
/** Maximum number of characters in a label: rows have no more space. */
const LONGEST = 40
/** Invisible characters, some of which change the direction of the text after them. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u
const HEAD = /^name,label(?:,label_zh)?$/i

/**
 * Parses an operator's names for accounts and contracts: lines `exchange01,Some Exchange` or `exchange01,Some
 * Exchange,某交易所`, with the third cell for Chinese pages. A header `name,label` or `name,label,label_zh` is optional.
 * Cells contain no commas and are not quoted. Throws at the first malformed line, with its number and the rule.
 */
export function parseLabels(text: string): ReadonlyMap<string, Text> {
  const labels = new Map<string, Text>()
  readLines(text, (line, at) => {
    if (line.trim() === '' || (at === 0 && HEAD.test(line.trim()))) return undefined
    const [name = '', en = '', zh = en, ...more] = line.split(',').map(cell => cell.trim())
    if (more.length > 0 || !line.includes(','))
      return 'is not NAME,LABEL or NAME,LABEL,CHINESE LABEL; a label has no comma'
    const fault = findNameFault(name, labels) ?? findLabelFault(en) ?? findLabelFault(zh)
    labels.set(name, { en, zh })
    return fault
  })
  return labels
}

function findNameFault(name: string, earlier: ReadonlyMap<string, Text>): string | undefined {
  if (!isPossibleName(name)) return 'does not begin with the name of an account or the id of a contract'
  if (earlier.has(name)) return 'has the name of an earlier line'
  return earlier.size < MAX_LABELS ? undefined : `is beyond the ${MAX_LABELS} labels that a file may have`
}

/** The fault in a label; undefined: none. */
function findLabelFault(label: string): string | undefined {
  if (label === '') return 'has an empty label'
  if (label.includes('"')) return 'has a quote in a label; labels are written without quotes'
  if (UNSEEN.test(label)) return 'has a label with an invisible character'
  return [...label].length > LONGEST ? `has a label of more than ${LONGEST} characters` : undefined
}

/**
 * Parses an operator's market figures: `{"usd": "0.0051", "cny": 0.037, "rank": 312, "time":
 * "2026-11-21T08:00:00Z"}`. Prices are decimals (numbers or text, all digits kept), `rank` is an integer from
 * 1, and `time` is ISO 8601 with a zone. Throws when a field is missing or invalid.
 */
export function parsePrices(text: string): NonNullable<ReturnType<Prices['get']>> {
  const json = parseExact(text)
  const [usd, cny] = [readField(json, 'usd'), readField(json, 'cny')]
  for (const [name, price] of Object.entries({ usd, cny }))
    if (!isPrice(price)) throw new RangeError(`${name} ${price} is not a decimal number`)
  const rank = readField(json, 'rank')
  if (!/^[1-9]\d{0,8}$/.test(rank)) throw new RangeError(`rank ${rank} is not a whole number from 1`)
  const time = readField(json, 'time')
  // A time without a zone would be interpreted in the zone of this machine.
  if (!/^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/.test(time) || Number.isNaN(Date.parse(time)))
    throw new RangeError(`time ${time} is not an ISO-8601 time with a zone, such as 2026-11-21T08:00:00Z`)
  return { usd, cny, rank: Number(rank), time: new Date(time).toISOString() }
}

/** Whether a text is a price as operators give it: a decimal of at most 18 digits on each side of its point. */
const isPrice = (text: string): boolean => /^(?:0|[1-9]\d{0,17})(?:\.\d{1,18})?$/.test(text)

function readField(json: ExactJson, name: string): string {
  if (typeof json !== 'object' || json === null || Array.isArray(json) || json instanceof Exact)
    throw new TypeError('the text is not a JSON object')
  const value = (json as Readonly<Record<string, ExactJson>>)[name]
  if (value instanceof Exact) return value.text
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  throw new TypeError(`field ${name} is missing`)
}

const DATE = /^\d{4}-\d\d-\d\d$/

/**
 * Parses an operator's prices of IOST by UTC day: lines `2026-11-21,0.0051`, optionally below a header `date,price` or
 * `date,EUR`. All digits are kept. Throws at the first malformed line, with its number and the rule.
 */
export function parsePriceHistory(text: string): NonNullable<ReturnType<PriceHistory['get']>> {
  const byDay = new Map<string, string>()
  let head: string | undefined
  readLines(text, (line, at) => {
    if (at === 0) head = /^date,(.*)$/i.exec(line)?.[1]
    if (at === 0 && head !== undefined) return undefined
    const [date = '', price = '', ...more] = line.split(',')
    if (more.length > 0 || !line.includes(',')) return 'is not a date and a price with one comma between them'
    const fault = findPriceFault(date, price, byDay)
    byDay.set(date, price)
    return fault
  })
  if (byDay.size === 0) throw new RangeError('it has no line with a date and a price')
  if (head === undefined || /^price$/i.test(head)) return { currency: 'USD', byDay }
  const currency = head.toUpperCase()
  if (!/^[A-Z]{3}$/.test(currency))
    throw new RangeError(`line 1 names ${shownLine(head)}, which is not price or a currency of three letters`)
  return { currency, byDay }
}

/** The fault in a line; undefined: none. */
function findPriceFault(date: string, price: string, earlier: ReadonlyMap<string, string>): string | undefined {
  if (!DATE.test(date) || parseDay(date) === undefined)
    return 'does not begin with a day that exists, such as 2026-11-21'
  if (!isPrice(price)) return 'has no decimal price of at most 18 digits on each side of a point, such as 0.0051'
  return earlier.has(date) ? 'has the day of an earlier line' : undefined
}

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

/** Splits CSV by RFC 4180: a quote inside a quoted cell is doubled; such a cell may contain commas and line ends. */
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

/** Interval of the reads, and so the longest delay of a change. */
const POLL_MS = 60_000
const FETCH_MS = 10_000
/** Maximum size: market figures are a few hundred bytes, profiles of some hundred producers a few hundred kilobytes. */
const MAX_BYTES = 4_000_000

/**
 * Reads a source now and every minute. A file that cannot be read or parsed at the start is a 'usage' Failure. A URL
 * that does not answer at the start, and every later failure, is logged, and the last valid value is kept.
 */
export async function watch<T>(options: {
  readonly source: { readonly path: string } | { readonly url: string }
  /** Name of the source in messages: "Prices". */
  readonly what: string
  /** Parses the text; throws when it is invalid. */
  readonly parse: (text: string) => T
  readonly log: Log
  readonly clock: Pick<Clock, 'sleep'>
}): Promise<{ get(): T | undefined; close(): void }> {
  const { source, what, parse, log, clock } = options
  const name = 'path' in source ? source.path : removeSecrets(source.url)
  let value: T | undefined
  let mark: string | undefined

  const read = async (): Promise<void> => {
    if ('url' in source) {
      const headers = { 'accept-encoding': ACCEPTED_CODING }
      const answer = await fetchPeer(source.url, { headers, signal: AbortSignal.timeout(FETCH_MS) })
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`)
      value = parse(new TextDecoder().decode(await readBody(answer, { most: MAX_BYTES })))
      return
    }
    const { mtimeMs, size } = await stat(source.path)
    const found = `${mtimeMs} ${size}`
    if (found === mark) return
    if (size > MAX_BYTES) throw new RangeError(`${size} bytes are more than ${MAX_BYTES}`)
    value = parse(await readFile(source.path, 'utf8'))
    mark = found
  }
  const warn = (error: unknown): void => {
    const now = value === undefined ? 'the next attempt is in a minute' : 'the last ones read remain in use'
    log('warn', `${what} could not be read; ${now}.`, { source: name, reason: getErrorMessage(error) })
  }

  try {
    await read()
  } catch (error) {
    if ('path' in source) throw new Failure('usage', `${what} cannot be read from ${name}: ${getErrorMessage(error)}.`)
    warn(error)
  }
  const polling = runEvery(clock, POLL_MS, () => read().catch(warn))
  return { get: () => value, close: polling.stop }
}

/**
 * Reads the operator's files, and all but the labels again every minute. A value is undefined when no such file is set,
 * or its URL has not answered yet.
 */
export async function watchOperatorFiles(
  values: Pick<Values, 'prices' | 'prices-history' | 'profiles' | 'labels'>,
  watching: { readonly log: Log; readonly clock: Pick<Clock, 'sleep'> },
) {
  const watched = async <T>(place: Values['prices'] | string, what: string, parse: (text: string) => T) =>
    place === undefined
      ? undefined
      : watch({ source: typeof place === 'string' ? { path: place } : place, what, parse, ...watching })
  const labels = await watched(values.labels, 'Labels', parseLabels)
  labels?.close()
  const prices = await watched(values.prices, 'Prices', parsePrices)
  const history = await watched(values['prices-history'], 'Price history', parsePriceHistory)
  const profiles = await watched(values.profiles, 'Profiles', parseProfiles)
  return {
    get: () => ({
      prices: prices?.get(),
      priceHistory: history?.get(),
      profiles: profiles?.get(),
      labels: labels?.get(),
    }),
    close: () => {
      prices?.close()
      history?.close()
      profiles?.close()
    },
  }
}
