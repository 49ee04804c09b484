import type { Asked, Document } from '#explorer/show.tsx'
import type { Clock } from '#time/clock.ts'
import { within } from '#time/deadline.ts'

/** A page is kept as long as a browser may keep it (`max-age=1`). */
const KEPT_MS = 1_000
/** Pages that are kept at once: the few that many look at. */
const MOST = 64
/** Longest page that is kept, in characters. */
const LONGEST = 256 * 1024

/** Everything that a page depends on, except the time. */
type Asking = Omit<Asked, 'now'>

/** How a page is made for a visitor, and when the visitor is gone. */
type Making = { readonly make: () => Promise<Document>; readonly signal: AbortSignal }

/** How the making of a page ended for those who waited for it; `gone`: its visitor went away before. */
type Made = { readonly page: Document } | 'failed' | 'gone'

/**
 * Pages that were made within the last second, or are being made: that many visitors follow the same one, and look at it in
 * the same moment, costs little more than one.
 */
export const keptPages = (clock: Pick<Clock, 'elapsed'>) => {
  const kept = new Map<string, { readonly page: Document; readonly until: number }>()
  const making = new Map<string, Promise<Made>>()
  const keep = (key: string, page: Document): void => {
    kept.delete(key)
    if ('text' in page && page.text.length > LONGEST) return
    const [oldest] = kept.keys()
    if (kept.size >= MOST && oldest !== undefined) kept.delete(oldest)
    kept.set(key, { page, until: clock.elapsed() + KEPT_MS })
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
    asked: Asking,
    own: Making,
    /** The page must not be older than this height. */
    leastHeight = 0,
  ): Promise<Document> => {
    const key = keyOf(asked)
    const known = kept.get(key)
    if (known !== undefined && clock.elapsed() < known.until && heightOf(known.page) >= leastHeight)
      return known.page
    let isLater = false
    for (let other = making.get(key); other !== undefined; other = making.get(key)) {
      const end = await within(other, { signal: own.signal })
      // A visitor whose page cannot be made takes no other one's page away.
      if (end === 'failed') break
      // A page that was begun since is as new as one's own would be, however high the height that was asked for.
      if (end !== 'gone' && (isLater || heightOf(end.page) >= leastHeight)) return end.page
      // The first of those who waited makes the next one, and the others wait for that.
      isLater = true
    }
    own.signal.throwIfAborted()
    return made(key, own)
  }
}

const keyOf = ({ lang, path, query, origin, isOriginKnown }: Asking): string =>
  `${lang} ${isOriginKnown} ${origin} ${path}?${query}`

/** The height that a page is true for; one without a height is true for any. */
const heightOf = (page: Document): number =>
  'text' in page ? (page.height ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY
