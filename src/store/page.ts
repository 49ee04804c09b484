export type PageOf = {
  /** Rows of the whole list, below 2^32 (ordinals of places). */
  readonly total: number
  /** From 1; may be any size. */
  readonly page: number
  /** From 1. */
  readonly size: number
  /** `desc`: newest first; `asc`: oldest first. */
  readonly sort: 'asc' | 'desc'
}

/** Ordinals from 1, inclusive, `first` ≤ `last`. */
export type Ordinals = { readonly first: number; readonly last: number }

/**
 * Which rows of a list a page shows. `desc` counts pages from the newest row, so page p of size s of n rows holds the
 * ordinals (n−p·s, n−(p−1)·s]; `asc` counts from the oldest: ((p−1)·s, p·s]. undefined: the page is beyond the end.
 */
export const ordinalsFor = ({ total, page, size, sort }: PageOf): Ordinals | undefined => {
  // Compared before multiplied: page · size of a huge page would lose digits.
  if (total < 1 || page > Math.ceil(total / size)) return undefined
  const before = (page - 1) * size
  const through = Math.min(page * size, total)
  return sort === 'asc'
    ? { first: before + 1, last: through }
    : { first: total - through + 1, last: total - before }
}
