import { appendFileSync, writeFileSync } from 'node:fs'

/** Counts of the soak, by name. */
type Counts = ReadonlyMap<string, number>

/** The events of a soak in order, and their counts. */
export type Journal = {
  /** Writes a line to the event log. */
  note(what: string): void
  /** Adds to a count. */
  count(name: string, by?: number): void
  /** Records a wrong answer or an unexplained refusal. The soak has failed. */
  wrong(what: string): void
  readonly counts: Counts
  readonly wrongs: readonly string[]
  /** Resolves at the first error. Waiting for anything else is useless then. */
  readonly failed: Promise<void>
}

/** `path`: file for the events. Absent: no file. `now`: milliseconds since the begin. */
export function openJournal(path: string | undefined, now: () => number): Journal {
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

/** The counts as lines, sorted by name. */
export const countLines = (counts: Counts): readonly string[] =>
  [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => `${name}: ${count}`)
