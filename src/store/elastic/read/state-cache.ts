import type { Ref } from '../client/bulk-item.ts'
import type { Got } from '../client/get-many.ts'
import type { PublishedMeta } from '../schema/checkpoint.ts'

/** State documents as they were read; `undefined` inside: there is none of that id. */
export type Remembered = {
  get(ref: Ref): { readonly got: Got | undefined } | undefined
  put(ref: Ref, got: Got | undefined): void
}

/** Only a repair changes documents of a published batch: it is seen after so many milliseconds at the latest. */
const KEPT_MS = 1_000
/** Letters of all that is kept: some 8,000,000 are 20 MB of memory at most. */
const MOST_LETTERS = 8_000_000
/** An entry without any text. */
const ENTRY_LETTERS = 200

/**
 * What is kept of the state of the batch that is published: until the next one is, its documents do not change, and
 * each was checked when it was read. A view holds what was kept when it was opened; views of another batch begin anew.
 */
export const rememberState = (now: () => number) => {
  let kept: { readonly of: string; readonly since: number; readonly docs: Remembered } | undefined
  return {
    of: ({ batch }: PublishedMeta): Remembered => {
      const time = now()
      if (kept === undefined || kept.of !== batch || Math.abs(time - kept.since) >= KEPT_MS)
        kept = { of: batch, since: time, docs: remembered(MOST_LETTERS) }
      return kept.docs
    },
    forget: (): void => {
      kept = undefined
    },
  }
}

/** At most so many letters; what was put first goes first. */
export const remembered = (mostLetters: number): Remembered => {
  const docs = new Map<string, { readonly got: Got | undefined; readonly letters: number }>()
  let all = 0
  return {
    get: ref => docs.get(keyOf(ref)),
    put: (ref, got) => {
      const letters = ENTRY_LETTERS + lettersOf(got)
      if (letters > mostLetters || docs.has(keyOf(ref))) return
      docs.set(keyOf(ref), { got, letters })
      all += letters
      for (const [key, { letters }] of docs) {
        if (all <= mostLetters) break
        docs.delete(key)
        all -= letters
      }
    },
  }
}

/** Names of indices have no slash. */
const keyOf = ({ index, id }: Ref): string => `${index}/${id}`

const lettersOf = (got: Got | undefined): number => {
  let letters = 0
  for (const value of Object.values(got?.source ?? {}))
    letters += typeof value === 'string' ? value.length : 8
  return letters
}
