import { downloads } from '#explorer/download/downloads.ts'
import { findRoute } from '#explorer/links.ts'
import type { Explorer } from './served.ts'

export type Crawled = Awaited<ReturnType<typeof crawl>>

export const brokenOf = (crawled: Crawled): readonly string[] =>
  crawled.filter(({ status }) => status !== 200 && status !== 302).map(({ path, status }) => `${status} ${path}`)

export function filesMissing(crawled: Crawled): readonly string[] {
  const paths = crawled
    .filter(({ status }) => status === 200)
    .map(({ path }) => path.replace(/^\/zh(?=\/)|\?.*$/gs, ''))
  const found = new Set(paths.map(path => findRoute(downloads, path)?.found))
  return downloads.filter(file => !found.has(file)).map(({ path }) => path)
}

type CrawlOptions = {
  readonly explorer: Explorer
  readonly from: readonly string[]
  /** The maximum number of opened addresses per kind (same number of parts, first part and parameter names). */
  readonly most: number
  /** The root of the service as browsers see it, without a trailing slash. A proxy strips the difference to `basePath`. */
  readonly seenAt?: string
  readonly basePath?: string
}

/** Few calls per action are opened, since actions have tests of their own. */
const MAX_CALLS = 2

const ORIGIN = 'https://explorer.example'

/**
 * Opens all addresses that pages link to, recursively. Throws if a link leaves `seenAt`; links to other web
 * hosts are ignored.
 */
export async function crawl({ explorer, from, most, seenAt = '', basePath = '' }: CrawlOptions) {
  const root = `${ORIGIN}${seenAt}/`
  const waiting = [...from]
  const known = new Set(waiting)
  const opened = new Map<string, number>()
  const pages: (Awaited<ReturnType<Explorer['visit']>> & { readonly path: string; readonly status: number })[] = []
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const kind = toAddressKind(path)
    const count = opened.get(kind) ?? 0
    if (count >= (path.startsWith('/api/') ? Math.min(most, MAX_CALLS) : most)) continue
    opened.set(kind, count + 1)
    const page = await explorer.visit(`${basePath}${path}`)
    pages.push({ ...page, path, status: page.response.status })
    // An export is not read to its end here.
    if (!page.response.bodyUsed) await page.response.body?.cancel()
    // Links of the reference have their own tests.
    if (/^\/(?:docs|api|status)\b/.test(path)) continue
    for (const { href } of page.links) {
      const { href: whole, origin } = new URL(href, `${root}${path.slice(1)}`)
      if (origin !== ORIGIN && /^https?:/.test(whole)) continue
      if (!whole.startsWith(root)) throw new Error(`${path} links to ${href}, which is ${whole}.`)
      const to = `/${whole.slice(root.length).replace(/#.*$/s, '')}`
      if (!known.has(to)) waiting.push(to)
      known.add(to)
    }
  }
  return pages
}

/** A kind of addresses that are likely to be right or wrong together. */
function toAddressKind(path: string): string {
  const { pathname, searchParams } = new URL(path, ORIGIN)
  const [, ...parts] = pathname.split('/')
  const lang = parts[0] === 'zh' ? parts.shift() : ''
  const action = parts[0] === 'api' ? `${searchParams.get('module')}/${searchParams.get('action')}` : ''
  const file = parts.at(-1)?.endsWith('.csv') === true ? parts.at(-1) : ''
  return [lang, parts[0], parts.length, file, action, ...[...searchParams.keys()].toSorted()].join(' ')
}
