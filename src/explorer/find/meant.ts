import { search } from '#actions/search.ts'
import { isContractId } from '#chain/names.ts'
import { Failure } from '#failure/failure.ts'
import { ifFound } from '../found.ts'
import { labelledNames } from '../known-names.ts'
import type { Visit } from '../page.ts'
import type { Match, Reading } from './reading.ts'
import { readingsOf } from './readings.ts'

/** Maximum number of interpretations that are tried. Each needs a search. */
const MOST_READINGS = 6

/**
 * The things that a typed or pasted text may mean: the matches of the first interpretation with an exact
 * match, else of the first with any. Throws the failures of search, such as 'loading', when no other
 * interpretation has matches either.
 */
export const matchesMeant = async (visit: Pick<Visit, 'ask' | 'site'>, text: string): Promise<readonly Match[]> => {
  const labelled = await matchesLabelled(visit, text)
  if (labelled.length === 0) return matchesNamed(visit, text)
  // When a label matches, a refused search for names is not a failure.
  const named = (await ifFound(matchesNamed(visit, text))) ?? []
  const isNew = ({ type, id }: Match): boolean => !labelled.some(each => each.type === type && each.id === id)
  return [...labelled, ...named.filter(isNew)]
}

/** Maximum number of labels whose names are searched. */
const MOST_LABELLED = 5

/** The accounts and contracts whose label contains the text, and which exist on the chain. */
const matchesLabelled = async (visit: Pick<Visit, 'ask' | 'site'>, text: string): Promise<readonly Match[]> => {
  const found = labelledNames(visit, text, MOST_LABELLED)
  const matches = await Promise.all(
    found.map(async ({ name, isWhole }) => {
      const type = isContractId(name) ? 'contract' : 'account'
      const answer = await ifFound(visit.ask(search, { text: name }))
      const own = answer?.matches.filter(match => match.exact && match.id === name && match.type === type)
      return (own ?? []).map(match => ({ ...match, exact: isWhole }))
    }),
  )
  return matches.flat()
}

/** The matches by name, number and hash. */
const matchesNamed = async (visit: Pick<Visit, 'ask'>, text: string): Promise<readonly Match[]> => {
  let failure: Failure | undefined
  let begun: readonly Match[] = []
  for (const reading of readingsOf(text).slice(0, MOST_READINGS)) {
    try {
      const { matches } = await visit.ask(search, { text: reading.text })
      if (matches.some(({ exact }) => exact)) return ofKind(matches, reading)
      if (begun.length === 0) begun = matches
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      failure ??= error
    }
  }
  if (failure !== undefined && begun.length === 0) throw failure
  return begun
}

/** Only the exact matches of the kind that the text names, if there are any; else all. */
const ofKind = (matches: readonly Match[], { kind }: Reading): readonly Match[] => {
  const meant = matches.filter(({ type, exact }) => exact && type === kind)
  return meant.length > 0 ? meant : matches
}
