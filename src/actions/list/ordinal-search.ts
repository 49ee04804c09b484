/** Rows read in one request. Two bounds of a list of 10^7 rows are found in at most 6 requests, one in 5. */
const AT_ONCE = 32
/** Rows read for each bound when many bounds are open. Any number of bounds of 10^7 rows are found in at most 9 requests. */
const FOR_EACH = 8
/** Open rows for each bound that are few enough to be read all at once. */
const FEW = 4

/** Rows with the ordinals 1 … `count`; none is less than `floor` or greater than `ceiling` for any test. */
export type Rows<T> = {
  readonly count: number
  readonly floor: T
  readonly ceiling: T
  /** The rows of some ordinals (ascending, each once). */
  readonly look: (ordinals: readonly number[]) => Promise<readonly T[]>
}

/** `least` rows pass for certain, those beyond `most` do not; what lies between is not known yet. */
type Bound = { readonly least: number; readonly most: number }

/** What is known about the rows that pass a test. */
type TestBound<T> = Bound & { readonly passes: (row: T) => boolean }

/**
 * For each test, how many rows pass it; those that pass must all stand before those that do not. Each look cuts what is
 * unknown to a fraction; a test that `floor` fails or `ceiling` passes needs none.
 */
export const countPassing = async <T>(
  { count, floor, ceiling, look }: Rows<T>,
  tests: readonly ((row: T) => boolean)[],
): Promise<readonly number[]> => {
  let bounds = tests.map(
    (passes): TestBound<T> => ({
      least: passes(ceiling) ? count : 0,
      most: passes(floor) ? count : 0,
      passes,
    }),
  )
  for (;;) {
    const ordinals = ordinalsFor(bounds)
    if (ordinals.length === 0) return bounds.map(({ least }) => least)
    const rows = await look(ordinals)
    bounds = bounds.map(bound => narrowed(bound, ordinals, rows))
  }
}

/** Bounds are narrowed by the same rows, so two of them leave the same ordinals open or none in common. */
const ordinalsFor = (bounds: readonly Bound[]): readonly number[] => {
  const unknown = bounds.filter(({ least, most }) => least < most)
  const open = [...new Map(unknown.map(bound => [bound.least, bound])).values()]
  const rows = open.reduce((sum, { least, most }) => sum + most - least, 0)
  const atOnce = Math.max(AT_ONCE, FOR_EACH * open.length)
  const share = rows <= FEW * unknown.length ? rows : Math.floor(atOnce / open.length)
  return open.flatMap(bound => spread(bound, share)).toSorted((a, b) => a - b)
}

/** At most `share` of the open ordinals, evenly, both ends among them: many a bound lies beyond the ends of its list. */
const spread = ({ least, most }: Bound, share: number): readonly number[] => {
  const open = most - least
  const length = Math.min(open, share)
  const last = Math.max(length - 1, 1)
  return Array.from({ length }, (_, at) => least + 1 + Math.floor((at * (open - 1)) / last))
}

const narrowed = <T>(
  { least, most, passes }: TestBound<T>,
  ordinals: readonly number[],
  rows: readonly T[],
): TestBound<T> => {
  for (const [at, ordinal] of ordinals.entries()) {
    const row = rows[at]
    if (row === undefined) throw new TypeError(`The store did not return row ${ordinal}.`)
    if (ordinal <= least || ordinal > most) continue
    if (passes(row)) least = ordinal
    else most = ordinal - 1
  }
  return { least, most, passes }
}
