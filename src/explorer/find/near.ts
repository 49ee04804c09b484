import type { AcquirePermit, AnswerDeps } from '#actions/answer.ts'
import { type AnswerOf, type Ask, askAtOneHeight } from '#actions/ask.ts'
import { search } from '#actions/search.ts'
import { getMatchKind } from '../format/state.ts'
import { decoded } from '../links.ts'
import type { Visit } from '../page.ts'
import { ifFound } from './known.ts'

/** Suggestions for a visitor whose name was not found, and the last loaded block. */
export type Near = {
  readonly text: string
  readonly matches: AnswerOf<typeof search>['matches']
  /** Height of the last loaded block. */
  readonly height: number
}

/** Minimum length of a prefix: a shorter one matches too many names. */
const LEAST = 2

const BLOCK_BY_NUMBER = /^\/block\/\d+$/

/**
 * Suggestions for a name that does not exist: names that start with it, or with ever shorter prefixes. Reads
 * the store and asks no node.
 */
export async function findNear(
  deps: AnswerDeps,
  address: Pick<Visit, 'path' | 'query'>,
  running: { readonly signal: AbortSignal; readonly acquire: AcquirePermit },
): Promise<Near> {
  return askAtOneHeight(
    { ...deps, node: undefined },
    async ({ ask, at }) => {
      const text = await findMissingName(ask, address)
      // A block number is not shortened: other blocks and names with its first digits are unrelated.
      const beginnings = BLOCK_BY_NUMBER.test(address.path) ? [text] : listPrefixes(text)
      const near = { text, height: at.height }
      for (const beginning of beginnings) {
        const found = await ifFound(ask(search, { text: beginning }))
        if (found !== undefined && found.matches.length > 0) return { ...near, matches: found.matches }
      }
      return { ...near, matches: [] }
    },
    running,
  )
}

/** A name in an address, and the kind of the page. */
type Named = { readonly text: string; readonly kind: string }

/**
 * The names in an address: those of its path, then those of the filters in its query. The id of an NFT is not a name.
 */
function listAddressNames({ path, query }: Pick<Visit, 'path' | 'query'>): readonly Named[] {
  const [, kind = '', whole = kind, part = ''] = path.split('/').map(decoded)
  const given = (name: string): string => query.get(name) ?? ''
  return [
    { text: whole, kind },
    { text: kind === 'account' ? part : '', kind: 'token' },
    { text: given('counterparty'), kind: 'account' },
    { text: given('token'), kind: 'token' },
    { text: given('func_name').split('/')[0] ?? '', kind: 'contract' },
  ].filter(({ text }) => text !== '')
}

/** The first name of an address that does not exist; `""`: all exist. */
async function findMissingName(ask: Ask, address: Pick<Visit, 'path' | 'query'>): Promise<string> {
  for (const { text, kind } of listAddressNames(address)) {
    const found = await ifFound(ask(search, { text }))
    const isThere = found?.matches.some(({ exact, type }) => exact && isOfKind(type, kind)) === true
    if (!isThere) return text
  }
  return ''
}

/** Whether a search type has pages of a kind. Contracts also have one for their holdings. */
const isOfKind = (type: string, kind: string): boolean =>
  getMatchKind(type).kind === kind || (type === 'contract' && kind === 'account')

/** Prefixes of a text to search for, longest first. Names of accounts and tokens are in lower case. */
function listPrefixes(text: string): readonly string[] {
  const { length } = text
  const lengths = [length, length - 1, length - 2, Math.ceil(length / 2), Math.ceil(length / 3)]
  const cut = lengths.filter(each => each >= LEAST).map(each => text.slice(0, each).toLowerCase())
  return [...new Set([text, ...cut])].filter(each => each.length >= LEAST)
}
