import type { AnswerDeps, Turn } from '#actions/answer.ts'
import { type AnswerOf, type Ask, askTogether } from '#actions/ask.ts'
import { BEHIND } from '#actions/find/loading.ts'
import { search } from '#actions/search.ts'
import type { Published } from '#store/port.ts'
import { decoded } from './decoded.ts'
import { ifFound } from './found.ts'
import type { Visit } from './page.ts'
import { kindOf } from './part/match-rows.tsx'

/** Suggestions for a visitor who found nothing, and how far the service has come. */
export type Near = {
  /** The text that was looked for. */
  readonly text: string
  readonly matches: AnswerOf<typeof search>['matches']
  /** The last block that is loaded. */
  readonly height: number
  /** The last irreversible block; undefined: no node was heard lately that knows of later ones. */
  readonly lib: number | undefined
}

/** Shorter beginnings are those of too many names. */
const LEAST = 2

const BLOCK_BY_NUMBER = /^\/block\/\d+$/

/** Names like the one in an address that nothing has: those that begin with it, or with ever less of it. Reads the store, asks no node. */
export const findNear = async (
  deps: AnswerDeps,
  address: Pick<Visit, 'path' | 'query'>,
  running: { readonly signal: AbortSignal; readonly turn: Turn },
): Promise<Near> => {
  return askTogether(
    { ...deps, node: undefined },
    async ({ ask, at }) => {
      const text = await soughtIn(ask, address)
      // The number of a block that does not exist is not cut: blocks and names with its first digits have nothing to do with it.
      const beginnings = BLOCK_BY_NUMBER.test(address.path) ? [text] : beginningsOf(text)
      const near = { text, height: at.height, lib: lastIrreversible(at, deps.node) }
      for (const beginning of beginnings) {
        const found = await ifFound(ask(search, { text: beginning }))
        if (found !== undefined && found.matches.length > 0) return { ...near, matches: found.matches }
      }
      return { ...near, matches: [] }
    },
    running,
  )
}

/** A name of an address, and the kind of page that the thing with that name has. */
type Named = { readonly text: string; readonly kind: string }

/** The names of an address: those of its path, then those of the filters behind it. The number of an NFT is no name. */
const namesIn = ({ path, query }: Pick<Visit, 'path' | 'query'>): readonly Named[] => {
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

/** The first name of an address that nothing has; `""`: there is a thing of each. */
const soughtIn = async (ask: Ask, address: Pick<Visit, 'path' | 'query'>): Promise<string> => {
  for (const { text, kind } of namesIn(address)) {
    const found = await ifFound(ask(search, { text }))
    const isThere = found?.matches.some(({ exact, type }) => exact && isOf(type, kind)) === true
    if (!isThere) return text
  }
  return ''
}

/** Whether what search calls a type has pages of a kind; contracts have one of what they own, too. */
const isOf = (type: string, kind: string): boolean =>
  kindOf(type).kind === kind || (type === 'contract' && kind === 'account')

const lastIrreversible = (
  { height, lib }: Pick<Published, 'height' | 'lib'>,
  node: AnswerDeps['node'],
): number | undefined => {
  const heard = node?.heard()?.libBlock ?? 0
  // A node far behind the store knows as little of later blocks as one that is silent.
  return lib > height || heard >= height - BEHIND ? Math.max(lib, heard) : undefined
}

/** Beginnings of a text to search for, longest first; names of accounts and tokens have small letters. */
const beginningsOf = (text: string): readonly string[] => {
  const { length } = text
  const lengths = [length, length - 1, length - 2, Math.ceil(length / 2), Math.ceil(length / 3)]
  const cut = lengths.filter(each => each >= LEAST).map(each => text.slice(0, each).toLowerCase())
  return [...new Set([text, ...cut])].filter(each => each.length >= LEAST)
}
