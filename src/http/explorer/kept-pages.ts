import type { Asked, Document } from '#explorer/show.tsx'
import type { Clock } from '#time/clock.ts'

/** A page is as new as what a browser may keep (`max-age=1`). */
const KEPT_MS = 1_000
/** Pages that are kept at once: the few that many look at. */
const MOST = 64
/** Letters of a page that is kept. */
const LONGEST = 256 * 1024

/** Pages that were made within the last second: that many visitors follow the same one costs little more than one. */
export const keptPages = (clock: Pick<Clock, 'elapsed'>) => {
  const kept = new Map<string, { readonly page: Document; readonly until: number }>()
  return async (
    { lang, path, query, origin, isOriginKnown }: Omit<Asked, 'now'>,
    make: () => Promise<Document>,
    /** Whoever knows of this height wants a page that is not older. */
    leastHeight = 0,
  ): Promise<Document> => {
    const key = `${lang} ${isOriginKnown} ${origin} ${path}?${query}`
    const known = kept.get(key)
    if (known !== undefined && clock.elapsed() < known.until && heightOf(known.page) >= leastHeight)
      return known.page
    const page = await make()
    kept.delete(key)
    if ('text' in page && page.text.length > LONGEST) return page
    const [oldest] = kept.keys()
    if (kept.size >= MOST && oldest !== undefined) kept.delete(oldest)
    kept.set(key, { page, until: clock.elapsed() + KEPT_MS })
    return page
  }
}

/** The height that a page is true for; where there is none it is so for any. */
const heightOf = (page: Document): number =>
  'text' in page ? (page.height ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY
