import type { Asked, Document } from '#explorer/show.tsx'
import type { Clock } from '#time/clock.ts'

/** A page is kept as long as a browser may keep it (`max-age=1`). */
const KEPT_MS = 1_000
/** Pages that are kept at once: the few that many look at. */
const MOST = 64
/** Longest page that is kept, in characters. */
const LONGEST = 256 * 1024

/** Everything that a page depends on, except the time. */
type Asking = Omit<Asked, 'now'>

/**
 * Pages that were made within the last second, or are being made: that many visitors follow the same one, and look at it in
 * the same moment, costs little more than one.
 */
export const keptPages = (clock: Pick<Clock, 'elapsed'>) => {
  const kept = new Map<string, { readonly page: Document; readonly until: number }>()
  const making = new Map<string, Promise<Document>>()
  const keep = (key: string, page: Document): void => {
    kept.delete(key)
    if ('text' in page && page.text.length > LONGEST) return
    const [oldest] = kept.keys()
    if (kept.size >= MOST && oldest !== undefined) kept.delete(oldest)
    kept.set(key, { page, until: clock.elapsed() + KEPT_MS })
  }
  const made = async (key: string, make: () => Promise<Document>): Promise<Document> => {
    const running = make()
    making.set(key, running)
    try {
      const page = await running
      keep(key, page)
      return page
    } finally {
      if (making.get(key) === running) making.delete(key)
    }
  }
  return async (
    asked: Asking,
    make: () => Promise<Document>,
    /** The page must not be older than this height. */
    leastHeight = 0,
  ): Promise<Document> => {
    const key = keyOf(asked)
    const known = kept.get(key)
    if (known !== undefined && clock.elapsed() < known.until && heightOf(known.page) >= leastHeight)
      return known.page
    for (let other = making.get(key); other !== undefined; other = making.get(key)) {
      const page = await other.catch(() => undefined)
      // A visitor whose page cannot be made, or who is gone, takes no other one's page away.
      if (page === undefined) break
      if (heightOf(page) >= leastHeight) return page
    }
    return made(key, make)
  }
}

const keyOf = ({ lang, path, query, origin, isOriginKnown }: Asking): string =>
  `${lang} ${isOriginKnown} ${origin} ${path}?${query}`

/** The height that a page is true for; where there is none it is so for any. */
const heightOf = (page: Document): number =>
  'text' in page ? (page.height ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY
