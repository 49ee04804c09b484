import { FINAL_MS, FRESH_MS, isFinal } from './keeping.ts'
import type { SharedAnswer, Taken } from './shared-answer.ts'

/** Answers of nodes that are given again, by path, in a bounded number of bytes. */
export type KeptAnswers = {
  /** The answer that was kept for a path; undefined: none, or it may not be given any more. */
  take(path: string): Taken | undefined
  /** Keeps an answer that the node was asked for at `since`, by the clock, unless there is a later one. */
  keep(path: string, answer: SharedAnswer, since: number): void
  /** Bytes of all that is kept. */
  bytes(): number
}

/** Bytes of an entry beside its body and its path. */
const ENTRY_BYTES = 500

type Entry = {
  readonly answer: SharedAnswer
  readonly since: number
  readonly own: Taken
  readonly bytes: number
  /** Whether the answer cannot change any more; undefined: not looked at, since it was never asked for after `FRESH_MS`. */
  isFinal: boolean | undefined
}

/**
 * @param maxBytes the entry that was used longest ago makes room for a new one
 * @param lib the last irreversible block that is known now; undefined: none is
 */
export const keptAnswers = (
  maxBytes: number,
  { elapsed, lib }: { readonly elapsed: () => number; readonly lib: () => number | undefined },
): KeptAnswers => {
  // The one that was used longest ago comes first.
  const entries = new Map<string, Entry>()
  let all = 0
  const drop = (path: string): void => {
    const entry = entries.get(path)
    if (entry === undefined || !entries.delete(path)) return
    all -= entry.bytes
    entry.own.release()
  }
  /** Only what is asked for again is read, so that a reader of the whole chain pays nothing for it. */
  const isGood = (path: string, entry: Entry): boolean => {
    const age = elapsed() - entry.since
    if (age >= FINAL_MS || !entry.answer.isUsable()) return false
    if (age < FRESH_MS) return true
    entry.isFinal ??= isFinal(path, entry.answer.body, lib() ?? -1)
    return entry.isFinal
  }
  return {
    take: path => {
      const entry = entries.get(path)
      if (entry === undefined) return undefined
      if (!isGood(path, entry)) {
        drop(path)
        return undefined
      }
      entries.delete(path)
      entries.set(path, entry)
      return entry.answer.take()
    },
    keep: (path, answer, since) => {
      const bytes = ENTRY_BYTES + 2 * path.length + answer.body.length
      if (bytes > maxBytes || since < (entries.get(path)?.since ?? since)) return
      drop(path)
      entries.set(path, { answer, since, own: answer.take(), bytes, isFinal: undefined })
      all += bytes
      for (const oldest of entries.keys()) {
        if (all <= maxBytes) break
        drop(oldest)
      }
    },
    bytes: () => all,
  }
}
