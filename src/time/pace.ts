/** The rate of growth of a count. Times are in milliseconds, of a clock that never goes back. */
type Pace = {
  /**
   * Records the count at a time. A count that goes back has started over (a retry, another pass over the same
   * data). Earlier notes are then dropped, and the rate is measured from here on.
   */
  note(at: number, count: number): void
  /** Counts per second, never negative; 0 until there are two notes. */
  perSecond(): number
  /** The time in milliseconds over which `perSecond` is measured. */
  spanMs(): number
}

type Note = { readonly at: number; readonly count: number }

/** @param windowMs older notes are ignored, except for the last two */
export function createPace(windowMs = Number.POSITIVE_INFINITY): Pace {
  let notes: Note[] = []
  const spanMs = (): number => (notes.at(-1)?.at ?? 0) - (notes[0]?.at ?? 0)
  return {
    note: (at, count) => {
      if (count < (notes.at(-1)?.count ?? count)) notes = []
      // Without a window only the first and the last note are used.
      if (windowMs === Number.POSITIVE_INFINITY) notes.splice(1)
      notes.push({ at, count })
      while (notes.length > 2 && (notes[0]?.at ?? at) < at - windowMs) notes.shift()
    },
    perSecond: () => {
      const ms = spanMs()
      return ms <= 0 ? 0 : (((notes.at(-1)?.count ?? 0) - (notes[0]?.count ?? 0)) * 1_000) / ms
    },
    spanMs,
  }
}
