import { tokens } from '#indices/token.ts'
import type { View } from '#store/port.ts'

/**
 * Number of tokens whose full names are compared, those with the most holders first: there is no index on full names.
 */
export const MAX_COMPARED = 500
/** Length of the longest full name in a search, in characters. */
const MAX = 100

/**
 * Symbols of the tokens whose full names begin with a text, ignoring case; most holders first. A single letter finds only
 * those of which it is the whole name.
 */
export async function symbolsByFullName(view: View, text: string): Promise<readonly string[]> {
  if (text === '' || text.length > MAX) return []
  const beginning = text.toLowerCase()
  const isLetter = [...text].length === 1
  const fits = (name: string): boolean => (isLetter ? name === beginning : name.startsWith(beginning))
  const known = await view.page(tokens, 'byHolders', { offset: 0, limit: MAX_COMPARED })
  return known.filter(({ full_name }) => fits(full_name.toLowerCase())).map(({ symbol }) => symbol)
}
