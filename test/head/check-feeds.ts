import { type BranchNow, branchNow } from './branch-now.ts'
import { type HeadReader, headReader } from './head-reader.ts'
import type { ForkStand } from './stand.ts'
import { blockList, recordList, type TrueList, transactionList } from './true-list.ts'

/** The lists of blocks and transactions, and of each other kind the list with the most rows. */
export function busyLists({ forks, truth }: Pick<ForkStand, 'forks' | 'truth'>): readonly TrueList[] {
  const probe = forks.grow(forks.base, { waits: false, seed: 1 })
  const counts = new Map<string, number>()
  for (const key of truth(probe).rows.flatMap(({ keys }) => keys)) counts.set(key, (counts.get(key) ?? 0) + 1)
  const kinds = new Map<string, string>()
  for (const [key] of [...counts].toSorted(([, a], [, b]) => b - a)) {
    const kind = key.slice(0, key.indexOf('/'))
    if (!kinds.has(kind)) kinds.set(kind, key)
  }
  const lists = [...kinds.values()].map(key => recordList(truth, key)).filter(list => list !== undefined)
  return [blockList, transactionList(truth), ...lists]
}

/** Connects readers to some lists. They follow these from now on. */
export async function followLists(
  stand: ForkStand,
  lists: readonly TrueList[],
  random: () => number,
): Promise<readonly HeadReader[]> {
  const key = () => stand.service.key
  const readers = lists.map(list =>
    headReader(list, { ask: (path, init) => stand.service.ask(path, init), key, random }),
  )
  await Promise.all(readers.map(({ open }) => open))
  return readers
}

/**
 * The expected rows of a reader: irreversible rows above the base of the forks, and packed rows; undefined: not known.
 */
const expectedOf = (list: TrueList, { stored, above }: BranchNow) => ({
  rows: stored.flatMap(list.of),
  packed: above?.flatMap(list.of),
})

/** Waits until every feed has the expected rows. Throws if a row is still missing after many checks. */
export async function feedsSettled(stand: ForkStand, readers: readonly HeadReader[]): Promise<void> {
  const now = await branchNow(stand)
  for (const { list, rows, packed, done } of readers) {
    const expected = expectedOf(list, now)
    const isSo = (): boolean =>
      rows.length === expected.rows.length &&
      (expected.packed === undefined || packed().length === expected.packed.length) &&
      Bun.deepEquals(rows.map(list.shown), expected.rows) &&
      (expected.packed === undefined || Bun.deepEquals(packed().map(list.shown), expected.packed))
    let failed = false
    const stop = () => {
      failed = true
    }
    void done.catch(stop)
    for (let looks = 0; !isSo() && !failed; looks += 1) {
      if (looks === MOST_LOOKS)
        throw new Error(
          `${list.action} ${JSON.stringify(list.params)}: ${JSON.stringify([rows.slice(-3), packed()])} instead of ${JSON.stringify([expected.rows.slice(-3), expected.packed])}`,
        )
      // The steps are short, since a store that does not answer for five seconds by this clock ends the feeds.
      await stand.clock.pass(10)
      await Bun.sleep(1)
    }
    if (failed) await done
  }
}

/** The maximum number of checks. Each lets all pending work finish, so a further check would change nothing. */
const MOST_LOOKS = 20_000
