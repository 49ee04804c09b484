import type { ListDoc } from '#indices/list.ts'
import type { Moment } from '#store/port.ts'

/** Rows read in one request. */
const AT_ONCE = 32

/**
 * The starts of a list in partitions with these first heights, in the form of its document. `momentsOf`
 * returns the moments of the rows with the given ordinals, ascending.
 */
export async function findListStarts(
  firsts: readonly number[],
  { count }: ListDoc,
  momentsOf: (ordinals: readonly number[]) => Promise<readonly Pick<Moment, 'height'>[]>,
): Promise<ListDoc['starts']> {
  const starts: (readonly [number, number])[] = []
  let before = 0
  for (const partition of firsts.keys()) {
    const end = firsts[partition + 1]
    const until = end === undefined ? count : await countLowerRows(end, { from: before, count }, momentsOf)
    if (until > before) starts.push([partition, before + 1])
    before = until
  }
  return starts
}

/** The number of rows of a list in blocks below a height; at least `from` of them are known to be. */
async function countLowerRows(
  height: number,
  { from, count }: { readonly from: number; readonly count: number },
  momentsOf: (ordinals: readonly number[]) => Promise<readonly Pick<Moment, 'height'>[]>,
): Promise<number> {
  let [least, most] = [from, count]
  while (least < most) {
    const looked = spread(least + 1, most)
    const moments = await momentsOf(looked)
    const above = moments.findIndex(moment => moment.height >= height)
    if (above < 0) least = looked.at(-1) ?? most
    else {
      most = (looked[above] ?? most) - 1
      least = looked[above - 1] ?? least
    }
  }
  return least
}

/** At most `AT_ONCE` integers from `first` to `last`, evenly spread and including both. */
function spread(first: number, last: number): readonly number[] {
  const length = Math.min(AT_ONCE, last - first + 1)
  if (length === 1) return [first]
  return Array.from({ length }, (_, at) => first + Math.floor(((last - first) * at) / (length - 1)))
}
