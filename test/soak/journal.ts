import { appendFileSync, writeFileSync } from 'node:fs'

/** What the soak counts, by name. */
export type Counts = ReadonlyMap<string, number>

/** What happened, in order, and how often. */
export type Journal = {
  /** Writes a line to the log of events. */
  note(what: string): void
  /** Adds to a count. */
  count(name: string, by?: number): void
  /** An answer that is not the truth, or a refusal nobody caused: the soak has failed. */
  wrong(what: string): void
  readonly counts: Counts
  readonly wrongs: readonly string[]
  /** Resolves with the first wrong thing: there is nothing to wait for any more. */
  readonly failed: Promise<void>
}

/** `path`: file the events are appended to; absent: nowhere. `now`: milliseconds since the begin. */
export const openJournal = (path: string | undefined, now: () => number): Journal => {
  if (path !== undefined) writeFileSync(path, '')
  const counts = new Map<string, number>()
  const wrongs: string[] = []
  const { promise: failed, resolve: fail } = Promise.withResolvers<void>()
  const note = (what: string): void => {
    if (path !== undefined) appendFileSync(path, `${(now() / 1_000).toFixed(3).padStart(9)} ${what}\n`)
  }
  const count = (name: string, by = 1): void => void counts.set(name, (counts.get(name) ?? 0) + by)
  return {
    note,
    count,
    wrong: what => {
      wrongs.push(what)
      note(`WRONG ${what}`)
      fail()
    },
    counts,
    wrongs,
    failed,
  }
}

/** The counts as lines, by name. */
export const countLines = (counts: Counts): readonly string[] =>
  [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => `${name}: ${count}`)
