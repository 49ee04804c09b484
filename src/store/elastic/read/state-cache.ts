import { type BoundedCache, boundedCache } from '#store/bounded-cache.ts'
import type { Ref } from '../client/bulk-item.ts'
import type { PublishedMeta } from '../schema/checkpoint-record.ts'

/** A state document of the index that it was asked for in. */
type Doc = { readonly id: string }

/** State documents as they were read; `value` undefined: there is none with that id. */
export type Remembered = {
  get(ref: Ref): { readonly value: Doc | undefined } | undefined
  /** `characters`: the size of its text. */
  put(ref: Ref, doc: Doc | undefined, characters: number): void
}

/** Only a repair changes documents of a published batch; its changes are seen after this time at the latest. */
const KEPT_MS = 1_000
/** Maximum characters in the cache; 8,000,000 take at most 20 MB of memory. */
const MAX_CHARACTERS = 8_000_000

/**
 * Cache of the state of the published batch: its documents do not change until the next one is published, and each was
 * checked when it was read. A view keeps the cache it was opened with; a view of another batch gets a new one.
 */
export const rememberState = (now: () => number, onLook: (isHit: boolean) => void = () => undefined) => {
  let kept: { readonly of: string; readonly since: number; readonly docs: Remembered } | undefined
  return {
    of: ({ batch }: PublishedMeta): Remembered => {
      const time = now()
      if (kept === undefined || kept.of !== batch || Math.abs(time - kept.since) >= KEPT_MS)
        kept = { of: batch, since: time, docs: remembered(onLook) }
      return kept.docs
    },
    forget: (): void => {
      kept = undefined
    },
  }
}

/** For a view that does not tell whether what it reads is of its height. */
export const rememberNothing = (): Remembered => ({ get: () => undefined, put: () => undefined })

const remembered = (onLook: (isHit: boolean) => void): Remembered => {
  const docs: BoundedCache<Doc | undefined> = boundedCache(MAX_CHARACTERS)
  return {
    get: ref => {
      const known = docs.get(keyOf(ref))
      onLook(known !== undefined)
      return known
    },
    put: (ref, doc, characters) => docs.put(keyOf(ref), doc, characters),
  }
}

/** Index names contain no slash. */
const keyOf = ({ index, id }: Ref): string => `${index}/${id}`
