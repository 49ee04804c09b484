import { beginningOf } from '../format/visible.ts'
import { readingsOfAddress } from './address.ts'
import type { Kind, Reading } from './reading.ts'

/** Maximum length of a text: longer than any address. */
const MOST_LETTERS = 2_000
/** Invisible characters that are copied with a text. */
const UNSEEN = /[\p{Cc}\p{Cf}]/gu
/** Quotes and brackets before a text, and those behind it with its punctuation. */
const BEFORE = /^["'`“‘«<([{「『《]+/u
const BEHIND = /(?<!["'`”’»>)\]}」』》,;:，；。])["'`”’»>)\]}」』》,;:，；。]+$/u
/** A block number: `Block #4,824`, `区块 4824`, `#4824`. */
const NUMBER = /^(?:(?:block|height|no\.?|number|区块|高度)\s*(?::\s*)?)?(#\s*)?(\d[\d,.'’_ ]*)$/i
const IN_THOUSANDS = /^\d{1,3}(?:([,.'’_ ])\d{3})(?:\1\d{3})*$/
/** A label before a name, in the form that pages show: `Tx hash: 8fd0…`, `@admin`. */
const LABELS: readonly (readonly [RegExp, Kind | undefined])[] = [
  [/^(?:tx ?hash|txid|tx|transaction(?: hash)?|交易(?:哈希)?)\s*(?:[:#]\s*|\s)/i, 'transaction'],
  [/^(?:account|address|账户|地址)\s*(?::\s*|\s)/i, 'account'],
  [/^(?:contract|合约)\s*(?::\s*|\s)/i, 'contract'],
  [/^(?:token|代币)\s*(?::\s*|\s)/i, 'token'],
  [/^(?:producer|生产者|节点)\s*(?::\s*|\s)/i, 'producer'],
  [/^(?:block(?: hash)?|hash|区块(?:哈希)?|哈希)\s*(?::\s*|\s)/i, undefined],
  [/^[@$]/, undefined],
]

/** The possible interpretations of a typed or pasted text, most likely first. */
export const readingsOf = (given: string): readonly Reading[] => {
  const text = plain(beginningOf(given, MOST_LETTERS).text)
  if (text === '') return []
  const inner = text.replace(BEFORE, '').replace(BEHIND, '').trim()
  const address = readingsOfAddress(inner)
  const all =
    address.length > 0
      ? address
      : [...numberIn(text), ...numberIn(inner), { text }, ...labelled(inner), { text: inner }]
  // Names are in lower case. Hashes and contract ids have upper and lower case.
  const small = all.map(({ text: each, ...of }) => ({ ...of, text: each.toLowerCase() }))
  const readings = new Map<string, Reading>()
  for (const each of [...all, ...small]) if (each.text !== '' && !readings.has(each.text)) readings.set(each.text, each)
  return [...readings.values()]
}

/** Normalizes a text to one line: full-width letters and digits become ordinary ones. */
const plain = (text: string): string => text.normalize('NFKC').replaceAll(/\s+/g, ' ').replaceAll(UNSEEN, '').trim()

const numberIn = (text: string): readonly Reading[] => {
  const [, , digits = ''] = NUMBER.exec(text) ?? []
  // A name may consist of digits, so a plain number may be a name or a block.
  if (/^\d*$/.test(digits)) return digits === '' || digits === text ? [] : [{ text: digits, kind: 'block' }]
  return IN_THOUSANDS.test(digits) ? [{ text: digits.replaceAll(/\D/g, ''), kind: 'block' }] : []
}

const labelled = (text: string): readonly Reading[] =>
  LABELS.flatMap(([label, kind]) => {
    const name = text.replace(label, '')
    return name === text ? [] : [{ text: name, ...(kind === undefined ? {} : { kind }) }]
  })
