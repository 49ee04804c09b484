import type { Lang, Visit } from './page.ts'

/** The address of a page, relative to the one that is shown. `path` is one of ours, such as `/block/7`. */
export const hrefTo = (
  { root, lang, home = `${root}${lang === 'zh' ? 'zh/' : ''}` }: Pick<Visit, 'root' | 'lang' | 'home'>,
  path: string,
): string => {
  const href = `${home}${path.slice(1)}`
  // Neither empty nor what a browser takes for a scheme.
  return /^(?:$|\?|[^/?]*:)/.test(href) ? `./${href}` : href
}

/** The address of a page as search engines should know it: absolute where the service's own address is known. */
export const lastingHref = (
  { origin, isOriginKnown, root, lang }: Pick<Visit, 'origin' | 'isOriginKnown' | 'root' | 'lang'>,
  path: string,
): string =>
  isOriginKnown ? new URL(hrefTo({ root: './', lang }, path), origin).href : hrefTo({ root, lang }, path)

/** Leads from a page to the root of the service. */
export const rootFrom = (lang: Lang, path: string): string =>
  '../'.repeat(path.split('/').length - 2 + (lang === 'zh' ? 1 : 0))

/** Path of the page of a thing. Names of the chain may hold any sign. */
export const pathOf = (kind: Kind, id: string | number): string => `/${kind}/${encodeURIComponent(id)}`
/** `nft` is a collection; one of its NFTs is `pathOfNft`. */
export type Kind = 'block' | 'tx' | 'account' | 'contract' | 'token' | 'producer' | 'nft'

/** Path of the page of an NFT: its number is one of its collection alone. */
export const pathOfNft = (collection: string, id: string): string =>
  `${pathOf('nft', collection)}/${encodeURIComponent(id)}`

/** Path of the page of what an owner has of a token. */
export const pathOfBalance = (owner: string, token: string): string =>
  `${pathOf('account', owner)}/${encodeURIComponent(token)}`

/** Path of the page that reads the storage of a contract. */
export const pathOfStorage = (contract: string): string => `${pathOf('contract', contract)}/storage`

/** The call of the API that gives what a page shows. */
export const callTo = (
  { root, site }: Pick<Visit, 'root' | 'site'>,
  { module, action }: { readonly module: string; readonly action: string },
  given: Readonly<Record<string, string>>,
): string => {
  const key = site.testKey === undefined ? {} : { apikey: site.testKey }
  return `${root}api/?${new URLSearchParams({ module, action, ...given, ...key })}`
}
