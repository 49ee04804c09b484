import type { Lang, Visit } from './page.ts'

/** The address of a page, relative to the current one. `path` is an explorer path, such as `/block/7`. */
export const hrefTo = (
  { root, lang, home = `${root}${lang === 'zh' ? 'zh/' : ''}` }: Pick<Visit, 'root' | 'lang' | 'home'>,
  path: string,
): string => {
  const href = `${home}${path.slice(1)}`
  // The result is neither empty nor a text that a browser takes for a scheme.
  return /^(?:$|\?|[^/?]*:)/.test(href) ? `./${href}` : href
}

/** The address of a page for search engines: absolute if the service's own address is known. */
export const lastingHref = (
  { origin, isOriginKnown, root, lang }: Pick<Visit, 'origin' | 'isOriginKnown' | 'root' | 'lang'>,
  path: string,
): string => (isOriginKnown ? new URL(hrefTo({ root: './', lang }, path), origin).href : hrefTo({ root, lang }, path))

/** The relative path from a page to the root of the service. */
export const rootFrom = (lang: Lang, path: string): string =>
  '../'.repeat(path.split('/').length - 2 + (lang === 'zh' ? 1 : 0))

/** The page path of a thing. Names on the chain may contain any character. */
export const pathOf = (kind: Kind, id: string | number): string => `/${kind}/${encodeURIComponent(id)}`
/** The kinds of pages. `nft` is a collection; the path of an NFT is `pathOfNft`. */
export type Kind = 'block' | 'tx' | 'account' | 'contract' | 'token' | 'producer' | 'nft'

/** The page path of an NFT: its id is unique only in its collection. */
export const pathOfNft = (collection: string, id: string): string =>
  `${pathOf('nft', collection)}/${encodeURIComponent(id)}`

/** The page path of an owner's balance of a token. */
export const pathOfBalance = (owner: string, token: string): string =>
  `${pathOf('account', owner)}/${encodeURIComponent(token)}`

/** The page path of a contract's storage. */
export const pathOfStorage = (contract: string): string => `${pathOf('contract', contract)}/storage`

/** The URL of the API call with the data of a page. */
export const callTo = (
  { root, site }: Pick<Visit, 'root' | 'site'>,
  { module, action }: { readonly module: string; readonly action: string },
  given: Readonly<Record<string, string>>,
): string => {
  const key = site.testKey === undefined ? {} : { apikey: site.testKey }
  return `${root}api/?${new URLSearchParams({ module, action, ...given, ...key })}`
}
