/** Number of rows read in one request. Two bounds in a list of 10^7 rows are found in at most 6 requests, one in 5. */
const AT_ONCE = 32
/** Rows per bound when many are open. Any number of bounds in 10^7 rows is found in at most 9 requests. */
const FOR_EACH = 8
/** Number of open rows per bound up to which all of them are read at once. */
const FEW = 4

/** Rows with the ordinals 1 … `count`. No test rates a row below `floor` or above `ceiling`. */
type OrdinalRows<T> = {
  readonly count: number
  readonly floor: T
  readonly ceiling: T
  /** The rows with given ordinals (ascending, without duplicates). */
  readonly look: (ordinals: readonly number[]) => Promise<readonly T[]>
}

/** At least `least` rows pass and at most `most`; the rows between are not tested yet. */
type Bound = { readonly least: number; readonly most: number }

type TestBound<T> = Bound & { readonly passes: (row: T) => boolean }

/**
 * For each test, the number of rows that pass it; all rows that pass must come before those that do not. Each look
 * reduces the untested rows to a fraction. No look is needed if a test fails for `floor` or passes for `ceiling`.
 */
export async function countPassing<T>(
  { count, floor, ceiling, look }: OrdinalRows<T>,
  tests: readonly ((row: T) => boolean)[],
): Promise<readonly number[]> {
  let bounds = tests.map(
    (passes): TestBound<T> => ({
      least: passes(ceiling) ? count : 0,
      most: passes(floor) ? count : 0,
      passes,
    }),
  )
  for (;;) {
    const ordinals = selectOrdinals(bounds)
    if (ordinals.length === 0) return bounds.map(({ least }) => least)
    const rows = await look(ordinals)
    bounds = bounds.map(bound => narrowBound(bound, ordinals, rows))
  }
}

/** All bounds are narrowed by the same rows, so two have either the same open ordinals or none in common. */
function selectOrdinals(bounds: readonly Bound[]): readonly number[] {
  const unknown = bounds.filter(({ least, most }) => least < most)
  const open = [...new Map(unknown.map(bound => [bound.least, bound])).values()]
  const rows = open.reduce((sum, { least, most }) => sum + most - least, 0)
  const atOnce = Math.max(AT_ONCE, FOR_EACH * open.length)
  const share = rows <= FEW * unknown.length ? rows : Math.floor(atOnce / open.length)
  // Evenly spaced with both ends, because many bounds lie beyond the ends of their list.
  return open
    .flatMap(({ least, most }) => {
      const width = most - least
      const length = Math.min(width, share)
      const last = Math.max(length - 1, 1)
      return Array.from({ length }, (_, at) => least + 1 + Math.floor((at * (width - 1)) / last))
    })
    .toSorted((a, b) => a - b)
}

function narrowBound<T>(
  { least, most, passes }: TestBound<T>,
  ordinals: readonly number[],
  rows: readonly T[],
): TestBound<T> {
  for (const [at, ordinal] of ordinals.entries()) {
    const row = rows[at]
    if (row === undefined) throw new TypeError(`The store did not return row ${ordinal}.`)
    if (ordinal <= least || ordinal > most) continue
    if (passes(row)) least = ordinal
    else most = ordinal - 1
  }
  return { least, most, passes }
}
