import type { AnswerDeps, Turn } from '#actions/answer.ts'
import { type AnswerOf, type Ask, askTogether } from '#actions/ask.ts'
import { BEHIND } from '#actions/find/loading.ts'
import { search } from '#actions/search.ts'
import type { Published } from '#store/port.ts'
import { decoded } from './decoded.ts'
import { ifFound } from './found.ts'

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

/** Names like the one in a path that nothing has: those that begin with it, or with ever less of it. Reads the store, asks no node. */
export const findNear = async (
  deps: AnswerDeps,
  path: string,
  running: { readonly signal: AbortSignal; readonly turn: Turn },
): Promise<Near> => {
  return askTogether(
    { ...deps, node: undefined },
    async ({ ask, at }) => {
      const text = await soughtIn(ask, path)
      // The number of a block that does not exist is not cut: blocks and names with its first digits have nothing to do with it.
      const beginnings = BLOCK_BY_NUMBER.test(path) ? [text] : beginningsOf(text)
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

/** Kinds of things that have other things within them, by the first segment of a path, and what search calls them. */
const WHOLES: ReadonlyMap<string, readonly string[]> = new Map([
  ['account', ['account', 'contract']],
  ['contract', ['contract']],
  ['nft', ['collection']],
])

/**
 * The name in a path that nothing has: its last part, or the one before where that is of a thing that is not there itself. `""`:
 * the last part is no name, such as the number of an NFT.
 */
const soughtIn = async (ask: Ask, path: string): Promise<string> => {
  const [, kind = '', whole = '', part] = path.split('/').map(decoded)
  const types = WHOLES.get(kind)
  if (types === undefined || part === undefined) return decoded(path.slice(path.lastIndexOf('/') + 1))
  const found = await ifFound(ask(search, { text: whole }))
  const isThere = found?.matches.some(({ exact, type }) => exact && types.includes(type)) === true
  if (!isThere) return whole
  return kind === 'account' ? part : ''
}

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
