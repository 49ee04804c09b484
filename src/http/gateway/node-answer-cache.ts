import { boundedCache } from '#store/bounded-cache.ts'
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

/** Estimated bytes of an entry, without its body, its path, and what every cache counts. */
const ENTRY_BYTES = 300

type Entry = {
  readonly answer: SharedAnswer
  readonly since: number
  readonly own: TakenResponse
  /** Whether the answer is final; undefined: unknown, since it was not requested after `FRESH_MS`. */
  isFinal: boolean | undefined
}

/**
 * @param maxBytes the limit above which the oldest entries are evicted
 * @param lib the last irreversible block known now; undefined: unknown
 */
export function createNodeAnswerCache(
  maxBytes: number,
  { elapsed, lib }: { readonly elapsed: () => number; readonly lib: () => number | undefined },
): NodeAnswerCache {
  const entries = boundedCache<Entry>(maxBytes, ({ own }) => own.release())
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
      const entry = entries.get(path)?.value
      if (entry !== undefined && isGood(path, entry)) return entry.answer.take()
      entries.drop(path)
      return undefined
    },
    keep: (path, answer, since) => {
      if (since < (entries.get(path)?.value.since ?? since)) return
      const entry = { answer, since, own: answer.take(), isFinal: undefined }
      entries.put(path, entry, ENTRY_BYTES + 2 * path.length + answer.body.length)
    },
    bytes: entries.size,
  }
}
