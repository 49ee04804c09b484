import type { Ref } from '../client/bulk-item.ts'
import type { Got } from '../client/get-many.ts'
import type { PublishedMeta } from '../schema/checkpoint.ts'

/** State documents as they were read; `got` undefined: there is none with that id. */
export type Remembered = {
  get(ref: Ref): { readonly got: Got | undefined } | undefined
  put(ref: Ref, got: Got | undefined): void
}

/** Only a repair changes documents of a published batch; its changes are seen after this time at the latest. */
const KEPT_MS = 1_000
/** Maximum characters in the cache; 8,000,000 take at most 20 MB of memory. */
const MAX_CHARACTERS = 8_000_000
/** Size of an entry without text. */
const ENTRY_CHARACTERS = 200

/**
 * Cache of the state of the published batch: its documents do not change until the next one is published, and each was
 * checked when it was read. A view keeps the cache it was opened with; a view of another batch gets a new one.
 */
export const rememberState = (now: () => number) => {
  let kept: { readonly of: string; readonly since: number; readonly docs: Remembered } | undefined
  return {
    of: ({ batch }: PublishedMeta): Remembered => {
      const time = now()
      if (kept === undefined || kept.of !== batch || Math.abs(time - kept.since) >= KEPT_MS)
        kept = { of: batch, since: time, docs: remembered(MAX_CHARACTERS) }
      return kept.docs
    },
    forget: (): void => {
      kept = undefined
    },
  }
}

/** A cache with a maximum number of characters; the oldest entry is dropped first. */
export const remembered = (maxCharacters: number): Remembered => {
  const docs = new Map<string, { readonly got: Got | undefined; readonly characters: number }>()
  let all = 0
  return {
    get: ref => docs.get(keyOf(ref)),
    put: (ref, got) => {
      const characters = ENTRY_CHARACTERS + charactersIn(got)
      if (characters > maxCharacters || docs.has(keyOf(ref))) return
      docs.set(keyOf(ref), { got, characters })
      all += characters
      for (const [key, { characters }] of docs) {
        if (all <= maxCharacters) break
        docs.delete(key)
        all -= characters
      }
    },
  }
}

/** Index names contain no slash. */
const keyOf = ({ index, id }: Ref): string => `${index}/${id}`

const charactersIn = (got: Got | undefined): number => {
  let characters = 0
  for (const value of Object.values(got?.source ?? {}))
    characters += typeof value === 'string' ? value.length : 8
  return characters
}
