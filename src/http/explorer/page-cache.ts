import type { Document, PageRequest } from '#explorer/show.tsx'
import { boundedCache } from '#store/bounded-cache.ts'
import type { Clock } from '#time/clock.ts'
import { within } from '#time/deadline.ts'

/** Lifetime of a cached page: that of a browser's cache (`max-age=1`). */
const KEPT_MS = 1_000
/** Maximum length of all cached pages, in characters: the few that many visitors view. */
const MAX_CACHED = 4 * 1024 * 1024
/** Maximum length of a cached page, in characters. */
const LONGEST = 256 * 1024

/** Everything that a page depends on, except the time. */
type Asking = Omit<PageRequest, 'now'>

/** The function that makes a page for a visitor, and the signal that aborts when the visitor leaves. */
type Making = { readonly make: () => Promise<Document>; readonly signal: AbortSignal }

/** The outcome for visitors who wait for the page; `gone`: the visitor who made it left before. */
type Made = { readonly page: Document } | 'failed' | 'gone'

/**
 * Pages made within the last second, and pages in progress. Many visitors who request the same page at the
 * same moment cost little more than one.
 */
export function createPageCache(clock: Pick<Clock, 'elapsed'>) {
  const cached = boundedCache<{ readonly page: Document; readonly until: number }>(MAX_CACHED)
  const making = new Map<string, Promise<Made>>()
  const keep = (key: string, page: Document): void => {
    const length = 'text' in page ? page.text.length : 0
    if (length > LONGEST) cached.drop(key)
    else cached.put(key, { page, until: clock.elapsed() + KEPT_MS }, key.length + length)
  }
  const made = async (key: string, { make, signal }: Making): Promise<Document> => {
    const { promise, resolve } = Promise.withResolvers<Made>()
    making.set(key, promise)
    let end: Made = 'failed'
    try {
      const page = await make()
      keep(key, page)
      end = { page }
      return page
    } finally {
      if (making.get(key) === promise) making.delete(key)
      resolve(end === 'failed' && signal.aborted ? 'gone' : end)
    }
  }
  return async (
    request: Asking,
    own: Making,
    /** The minimum height of the page. */
    leastHeight = 0,
  ): Promise<Document> => {
    const key = formatPageKey(request)
    const known = cached.get(key)?.value
    if (known !== undefined && clock.elapsed() < known.until && getPageHeight(known.page) >= leastHeight)
      return known.page
    let isLater = false
    for (let other = making.get(key); other !== undefined; other = making.get(key)) {
      const end = await within(other, { signal: own.signal })
      // A failure of one visitor's page is not a failure for the others.
      if (end === 'failed') break
      // A page begun after the wait is as new as a page made now, even if its height is below the requested one.
      if (end !== 'gone' && (isLater || getPageHeight(end.page) >= leastHeight)) return end.page
      // The first waiting visitor makes the next page, and the others wait for that.
      isLater = true
    }
    own.signal.throwIfAborted()
    return made(key, own)
  }
}

const formatPageKey = ({ lang, path, query, origin, isOriginKnown }: Asking): string =>
  `${lang} ${isOriginKnown} ${origin} ${path}?${query}`

/** The height of a page. A page without a height is valid for any. */
const getPageHeight = (page: Document): number =>
  'text' in page ? (page.height ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY
