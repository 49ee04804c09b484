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

export type Causes = ReturnType<typeof openCauses>

/** Number of ended causes that are kept: more than operations begun during a cause can outlast. */
const KEPT = 64

export function openCauses() {
  let clock = 0
  const ended: { readonly cause: Cause; readonly at: number }[] = []
  const active = new Set<{ readonly cause: Cause }>()
  return {
    /** Begins a cause. The returned function ends it. */
    begin: (cause: Cause) => {
      const one = { cause }
      active.add(one)
      clock++
      return () => {
        if (!active.delete(one)) return
        ended.push({ cause, at: clock++ })
        if (ended.length > KEPT) ended.shift()
      }
    },
    /** A point in time for `since`. */
    mark: () => clock,
    /** All causes in force at some time since the mark. */
    since: (mark: number): readonly Cause[] =>
      [...ended.filter(({ at }) => at >= mark), ...active].map(({ cause }) => cause),
  }
}

export async function within(causes: Causes, cause: Cause, work: () => Promise<void>): Promise<void> {
  const end = causes.begin(cause)
  try {
    await work()
  } finally {
    end()
  }
}

export type Journal = ReturnType<typeof openJournal>

/** `path`: file for the events. Absent: no file. `now`: milliseconds since the begin. */
export function openJournal(path: string | undefined, now: () => number) {
  if (path !== undefined) writeFileSync(path, '')
  const counts = new Map<string, number>()
  const wrongs: string[] = []
  const { promise: failed, resolve: fail } = Promise.withResolvers<void>()
  const note = (what: string): void => {
    if (path !== undefined) appendFileSync(path, `${(now() / 1_000).toFixed(3).padStart(9)} ${what}\n`)
  }
  return {
    note,
    count: (name: string, by = 1): void => void counts.set(name, (counts.get(name) ?? 0) + by),
    /** Records a wrong answer or an unexplained refusal. The soak has failed. */
    wrong: (what: string): void => {
      wrongs.push(what)
      note(`WRONG ${what}`)
      fail()
    },
    counts: counts as ReadonlyMap<string, number>,
    wrongs: wrongs as readonly string[],
    /** Resolves at the first error. Waiting for anything else is useless then. */
    failed,
  }
}

export const countLines = ({ counts }: Journal): readonly string[] =>
  [...counts].map(([name, count]) => `${name}: ${count}`).sort()
