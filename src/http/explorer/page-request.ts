import { formatRoot } from '#explorer/links.ts'
import type { Site } from '#explorer/page.ts'
import type { PageRequest } from '#explorer/show.tsx'
import type { Exchange } from '../exchange.ts'
import { parseTarget } from '../request-text.ts'

const ZH = /^\/zh(?=\/|$)/

/** Headers that proxies add. With them, only the proxy knows the address that visitors see. */
const PROXIED = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'forwarded', 'via']

/** Language and page of an address. */
export function parsePageRequest({ path, request }: Exchange, site: Site): Omit<PageRequest, 'now'> {
  const lang = ZH.test(path) ? 'zh' : 'en'
  const own = path.replace(ZH, '') || '/'
  const root = formatRoot(lang, own)
  return {
    site,
    lang,
    path: own,
    root,
    home: formatRoot('en', own),
    origin: site.publicUrl ?? URL.parse(`./${root}`, request.url)?.href ?? '/',
    isOriginKnown: site.publicUrl !== undefined || !PROXIED.some(name => request.headers.has(name)),
    query: new URLSearchParams(parseTarget(request.url).query),
  }
}
