import type { Text } from '#actions/text.ts'
import { isPossibleName } from '#chain/names.ts'
import { shownLine } from './shown-line.ts'

/** Maximum number of labels: more would slow down each search of the pages. */
const MAX = 10_000
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
  for (const [at, line] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    if (line.trim() === '' || (at === 0 && HEAD.test(line.trim()))) continue
    const [name = '', en = '', zh = en, ...more] = line.split(',').map(cell => cell.trim())
    const fault =
      more.length > 0 || !line.includes(',')
        ? 'is not NAME,LABEL or NAME,LABEL,CHINESE LABEL; a label has no comma'
        : (faultOfName(name, labels) ?? faultOfLabel(en) ?? faultOfLabel(zh))
    if (fault !== undefined) throw new RangeError(`line ${at + 1}, ${shownLine(line)}, ${fault}`)
    labels.set(name, { en, zh })
  }
  return labels
}

function faultOfName(name: string, earlier: ReadonlyMap<string, Text>): string | undefined {
  if (!isPossibleName(name)) return 'does not begin with the name of an account or the id of a contract'
  if (earlier.has(name)) return 'has the name of an earlier line'
  return earlier.size < MAX ? undefined : `is beyond the ${MAX} labels that a file may have`
}

/** The fault in a label; undefined: none. */
function faultOfLabel(label: string): string | undefined {
  if (label === '') return 'has an empty label'
  if (label.includes('"')) return 'has a quote in a label; labels are written without quotes'
  if (UNSEEN.test(label)) return 'has a label with an invisible character'
  return [...label].length > LONGEST ? `has a label of more than ${LONGEST} characters` : undefined
}
