import { tokens } from '#indices/token.ts'
import type { View } from '#store/port.ts'

/**
 * Number of tokens whose full names are compared, those with the most holders first: there is no index on full names.
 */
export const MOST_COMPARED = 500
/** Length limits of a full name in a search, in characters. */
const LEAST = 2
const MOST = 100

/** Symbols of the tokens whose full names begin with a text, ignoring case; most holders first. */
export const symbolsByFullName = async (view: View, text: string): Promise<readonly string[]> => {
  if (text.length < LEAST || text.length > MOST) return []
  const beginning = text.toLowerCase()
  const known = await view.page(tokens, 'byHolders', { offset: 0, limit: MOST_COMPARED })
  return known.filter(({ full_name }) => full_name.toLowerCase().startsWith(beginning)).map(({ symbol }) => symbol)
}
