/** @jsxImportSource @kitajs/html */
import { cut } from '../format/visible.ts'
import type { Html } from '../page.ts'

/** Letters of an address that are shown. */
const SHOWN = 80

/**
 * An address that anybody may have written into the chain. Only one of the web is a link, which says nothing of this page
 * and lends it no weight; what it shows is where it really leads, so that a name in its text deceives nobody.
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

/** An http(s) address in its normal form; undefined: it is none. A name and password in it would mislead. */
const webAddress = (url: string): string | undefined => {
  const parsed = URL.parse(url.trim())
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return undefined
  return parsed.username === '' && parsed.password === '' ? parsed.href : undefined
}
