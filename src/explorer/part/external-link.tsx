/** @jsxImportSource @kitajs/html */
import { cut } from '../format/visible.ts'
import type { Html } from '../page.ts'

/** Maximum length of a displayed address. */
const SHOWN = 80

/**
 * An address from the chain, which may be hostile. Only an http(s) address is a link. The link sends no
 * referrer and does not count for search engines. Its text is its real target, so that it cannot mislead.
 */
export const ExternalLink = ({ url }: { readonly url: string }): Html => {
  const address = webAddress(url)
  const shown = cut(address ?? url, SHOWN)
  return address === undefined ? (
    <bdi class="chain" safe>
      {shown}
    </bdi>
  ) : (
    <a href={address} rel="nofollow noopener noreferrer ugc">
      <bdi safe>{shown}</bdi>
    </a>
  )
}

/**
 * An http(s) address in normalized form; undefined: the text is not one. An address with name and password is
 * refused, since it could mislead.
 */
const webAddress = (url: string): string | undefined => {
  const parsed = URL.parse(url.trim())
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return undefined
  return parsed.username === '' && parsed.password === '' ? parsed.href : undefined
}
