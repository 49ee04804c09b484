import { search } from '#actions/search.ts'
import { isContractId } from '#chain/names.ts'
import { Failure } from '#failure/failure.ts'
import { ifFound } from '../found.ts'
import { labelledNames } from '../known-names.ts'
import type { Visit } from '../page.ts'
import type { Match, Reading } from './reading.ts'
import { readingsOf } from './readings.ts'

/** Ways to understand a text that are tried: each is a search. */
const MOST_READINGS = 6

/**
 * What a text that was typed or pasted may mean: the matches of the first way to understand it that names something exactly,
 * else of the first that has any. Throws what search throws, such as 'loading', where no other way has matches either.
 */
export const matchesMeant = async (
  visit: Pick<Visit, 'ask' | 'site'>,
  text: string,
): Promise<readonly Match[]> => {
  const labelled = await matchesLabelled(visit, text)
  if (labelled.length === 0) return matchesNamed(visit, text)
  // With a label found, a search for names that is refused is no failure.
  const named = (await ifFound(matchesNamed(visit, text))) ?? []
  const isNew = ({ type, id }: Match): boolean => !labelled.some(each => each.type === type && each.id === id)
  return [...labelled, ...named.filter(isNew)]
}

/** Labels that a search looks behind. */
const MOST_LABELLED = 5

/** The accounts and contracts whose label has the text, as far as the chain has them. */
const matchesLabelled = async (
  visit: Pick<Visit, 'ask' | 'site'>,
  text: string,
): Promise<readonly Match[]> => {
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

/** The matches of names, numbers and hashes. */
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

/** Where the text says what kind of thing it names, and that is there, others do not count. */
const ofKind = (matches: readonly Match[], { kind }: Reading): readonly Match[] => {
  const meant = matches.filter(({ type, exact }) => exact && type === kind)
  return meant.length > 0 ? meant : matches
}
