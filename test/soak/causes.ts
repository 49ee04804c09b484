import { appendFileSync, writeFileSync } from 'node:fs'

/** A random integer from 0 up to, but not including, the bound. */
export const below = (random: () => number, bound: number): number => Math.floor(random() * bound)

export const pick = <T>(random: () => number, from: readonly T[]): T => from[below(random, from.length)] as T

/** A disturbance of the service or its loader, for as long as it may make one of them refuse. */
export type Cause = {
  readonly name: string
  /** Statuses that the service may answer meanwhile. 0: no answer at all. */
  readonly statuses: readonly number[]
  /** Messages that the loader or a command may end or pause with. */
  readonly says: RegExp
}

export type Causes = {
  /** Begins a cause. The returned function ends it. */
  begin(cause: Cause): () => void
  /** A point in time for `since`. */
  mark(): number
  /** All causes in force at some time since the mark. */
  since(mark: number): readonly Cause[]
}

/** Number of ended causes that are kept: more than operations begun during a cause can outlast. */
const KEPT = 64

export function openCauses(): Causes {
  let clock = 0
  const ended: { readonly cause: Cause; readonly at: number }[] = []
  const active = new Set<{ readonly cause: Cause }>()
  return {
    begin: cause => {
      const one = { cause }
      active.add(one)
      clock++
      return () => {
        if (!active.delete(one)) return
        ended.push({ cause, at: clock++ })
        if (ended.length > KEPT) ended.shift()
      }
    },
    mark: () => clock,
    since: mark => [
      ...ended.filter(({ at }) => at >= mark).map(({ cause }) => cause),
      ...[...active].map(({ cause }) => cause),
    ],
  }
}

/** Runs work while a cause is in force. */
export async function within(causes: Causes, cause: Cause, work: () => Promise<void>): Promise<void> {
  const end = causes.begin(cause)
  try {
    await work()
  } finally {
    end()
  }
}

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
