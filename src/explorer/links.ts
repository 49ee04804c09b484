import { lowerAddress } from '#chain/names.ts'
import type { Lang, Visit } from './page.ts'

/** The address of a page, relative to the current one. `path` is an explorer path, such as `/block/7`. */
export function toHref(
  { root, lang, home = `${root}${lang === 'zh' ? 'zh/' : ''}` }: Pick<Visit, 'root' | 'lang' | 'home'>,
  path: string,
): string {
  const href = `${home}${path.slice(1)}`
  // The result is neither empty nor a text that a browser takes for a scheme.
  return /^(?:$|\?|[^/?]*:)/.test(href) ? `./${href}` : href
}

/** The relative path from a page to the root of the service. */
export const formatRoot = (lang: Lang, path: string): string =>
  '../'.repeat(path.split('/').length - 2 + (lang === 'zh' ? 1 : 0))

/** The page path of a thing. Names on the chain may contain any character. */
export const formatPagePath = (kind: PageKind, id: string | number): string => `/${kind}/${encodeURIComponent(id)}`
/** The kinds of pages. `nft` is a collection; the path of an NFT is `formatNftPath`. */
export type PageKind = 'block' | 'tx' | 'account' | 'contract' | 'token' | 'producer' | 'nft'

/** The page path of an NFT: its id is unique only in its collection. */
export const formatNftPath = (collection: string, id: string): string =>
  `${formatPagePath('nft', collection)}/${encodeURIComponent(id)}`

export const formatBalancePath = (owner: string, token: string): string =>
  `${formatPagePath('account', owner)}/${encodeURIComponent(token)}`

export const formatStoragePath = (contract: string): string => `${formatPagePath('contract', contract)}/storage`

/** The pages of lists, in display order. */
export const LISTS = [
  ['/blocks', { en: 'Blocks', zh: '区块' }],
  ['/transactions', { en: 'Transactions', zh: '交易' }],
  ['/tokens', { en: 'Tokens', zh: '代币' }],
  ['/nfts', { en: 'NFTs', zh: 'NFT 合集' }],
  ['/contracts', { en: 'Contracts', zh: '合约' }],
  ['/producers', { en: 'Producers', zh: '生产者' }],
  ['/wealth', { en: 'Rich list', zh: '财富榜' }],
  ['/statistics', { en: 'Statistics', zh: '统计' }],
] as const

/** Whether a page is about one item of a list. Paths are without language. */
export const isListItem = (list: string, path: string): boolean =>
  path.startsWith(list === '/transactions' ? '/tx/' : list === '/statistics' ? '/statistics/' : `${list.slice(0, -1)}/`)

/** The paging parameters of a list. */
export const PAGING = ['page', 'after'] as const

/**
 * Whether an address selects a part of its page, or another list on it: one of the page's parameters has a
 * value. Unknown parameters do not count, such as the tracking parameters of other sites, nor do empty form
 * fields or the first page of a list.
 */
export const isNarrowed = ({ query }: Pick<Visit, 'query'>, names: readonly string[]): boolean =>
  names.some(name => {
    const value = query.get(name) ?? ''
    return value !== '' && !(name === 'page' && value === '1')
  })

/** Decodes a path segment. A segment with an invalid escape is returned unchanged; it is the name of nothing. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

type Route<T> = { readonly found: T; readonly id: string; readonly part: string }

/**
 * The first entry whose path pattern matches a path, and the segments at its placeholders `{id}` and
 * `{part}`, addresses among them in lower case. undefined: no entry matches.
 */
export function findRoute<T extends { readonly path: string }>(all: readonly T[], path: string): Route<T> | undefined {
  const given = path.split('/')
  for (const found of all) {
    const own = found.path.split('/')
    const fits = (segment: string, at: number): boolean =>
      segment === '{id}' || segment === '{part}' ? given[at] !== '' : given[at] === segment
    if (own.length !== given.length || !own.every(fits)) continue
    const segmentOf = (name: string): string => lowerAddress(decodeSegment(given[own.indexOf(name)] ?? ''))
    return { found, id: segmentOf('{id}'), part: segmentOf('{part}') }
  }
  return undefined
}
