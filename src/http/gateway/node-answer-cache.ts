import { FINAL_MS, FRESH_MS, isFinal } from './keeping.ts'
import type { SharedAnswer, TakenResponse } from './shared-answer.ts'

/** A cache of node answers by path, bounded in bytes. */
export type NodeAnswerCache = {
  /** The cached answer for a path; undefined: there is none, or it has expired. */
  take(path: string): TakenResponse | undefined
  /** Caches an answer whose call began at `since`, by the clock, unless a later one is cached. */
  keep(path: string, answer: SharedAnswer, since: number): void
  /** Bytes of all cached answers. */
  bytes(): number
}

/** Estimated bytes of an entry, without its body and path. */
const ENTRY_BYTES = 500

type Entry = {
  readonly answer: SharedAnswer
  readonly since: number
  readonly own: TakenResponse
  readonly bytes: number
  /** Whether the answer is final; undefined: unknown, since it was not requested after `FRESH_MS`. */
  isFinal: boolean | undefined
}

/**
 * @param maxBytes the limit above which the least recently used entries are evicted
 * @param lib the last irreversible block known now; undefined: unknown
 */
export function createNodeAnswerCache(
  maxBytes: number,
  { elapsed, lib }: { readonly elapsed: () => number; readonly lib: () => number | undefined },
): NodeAnswerCache {
  // The least recently used entry comes first.
  const entries = new Map<string, Entry>()
  let all = 0
  const drop = (path: string): void => {
    const entry = entries.get(path)
    if (entry === undefined || !entries.delete(path)) return
    all -= entry.bytes
    entry.own.release()
  }
  /** Only answers that are requested again are parsed, so that a reader of the whole chain pays nothing for it. */
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
