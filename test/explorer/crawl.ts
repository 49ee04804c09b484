import { downloads } from '#explorer/download/downloads.ts'
import { routeAt } from '#explorer/route.ts'
import type { ReadPage } from './read-page.ts'
import type { Explorer } from './served.ts'

/** A page that a crawl came to. */
export type Crawled = ReadPage & { readonly path: string; readonly status: number }

/**
 * Addresses of pages and files that do not work; a list of a period may be longer than a file, and says so.
 */
export const brokenOf = (crawled: readonly Crawled[]): readonly string[] =>
  crawled
    .filter(
      ({ status, path }) => status !== 200 && status !== 302 && !(status === 400 && /\.csv\?/.test(path)),
    )
    .map(({ path, status }) => `${status} ${path}`)

/** Paths of the files that no page of a crawl led to. */
export const filesMissing = (crawled: readonly Crawled[]): readonly string[] => {
  const found = crawled
    .filter(({ status }) => status === 200)
    .map(({ path }) => routeAt(downloads, path.replace(/^\/zh(?=\/)|\?.*$/gs, ''))?.found)
  return downloads.filter(file => !found.includes(file)).map(({ path }) => path)
}

type CrawlOptions = {
  readonly explorer: Explorer
  /** Paths to begin at. */
  readonly from: readonly string[]
  /** Addresses of one kind that are opened: those with as many parts, the same first one, and the same names of parameters. */
  readonly most: number
  /** Where browsers see the root of the service, without a slash at its end; a proxy takes the difference off. */
  readonly seenAt?: string
  /** Path prefix of the service itself. */
  readonly basePath?: string
}

/** Calls of one action: they have tests of their own. */
const MOST_CALLS = 2

const ORIGIN = 'https://explorer.example'

/**
 * Opens every address that a page links to, and so on. Throws where a link leads out of the service, unless it is a scheme
 * of its own.
 */
export const crawl = async (options: CrawlOptions): Promise<readonly Crawled[]> => {
  const { explorer, from, most, seenAt = '', basePath = '' } = options
  const root = `${ORIGIN}${seenAt}/`
  const waiting = [...from]
  const known = new Set(waiting)
  const opened = new Map<string, number>()
  const pages: Crawled[] = []
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const kind = kindOf(path)
    const count = opened.get(kind) ?? 0
    if (count >= (path.startsWith('/api/') ? Math.min(most, MOST_CALLS) : most)) continue
    opened.set(kind, count + 1)
    const { response, ...page } = await explorer.visit(`${basePath}${path}`)
    pages.push({ ...page, path, status: response.status })
    // Nobody reads the whole of an export here.
    if (!response.bodyUsed) await response.body?.cancel()
    if (!isOurs(path)) continue
    for (const { href } of page.links) {
      const { href: whole, origin } = new URL(href, `${root}${path.slice(1)}`)
      if (origin !== ORIGIN && /^https?:/.test(whole)) continue
      if (!whole.startsWith(root)) throw new Error(`${path} links to ${href}, which is ${whole}.`)
      const to = `/${whole.slice(root.length).replace(/#.*$/s, '')}`
      if (known.has(to)) continue
      known.add(to)
      waiting.push(to)
    }
  }
  return pages
}

/** The reference has its own tests of its links. */
const isOurs = (path: string): boolean => !/^\/(?:docs|api|status)\b/.test(path)

/** Addresses that are likely to be right or wrong together. */
const kindOf = (path: string): string => {
  const { pathname, searchParams } = new URL(path, ORIGIN)
  const [, ...parts] = pathname.split('/')
  const lang = parts[0] === 'zh' ? parts.shift() : ''
  const action = parts[0] === 'api' ? `${searchParams.get('module')}/${searchParams.get('action')}` : ''
  const file = parts.at(-1)?.endsWith('.csv') === true ? parts.at(-1) : ''
  return [lang, parts[0], parts.length, file, action, ...[...searchParams.keys()].toSorted()].join(' ')
}
