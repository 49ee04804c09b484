import type { Failure } from '#failure/failure.ts'
import type { PublishedMeta } from '../schema/checkpoint-record.ts'
import { stampOf } from '../schema/checkpoint-record.ts'
import { EDITION } from '../schema/mappings.ts'

export type HeightOptions = {
  readonly readPublished: (signal: AbortSignal | undefined) => Promise<PublishedMeta | undefined>
  readonly sleep: (ms: number) => Promise<void>
  readonly now: () => number
  readonly nothing: () => Failure
  /** Throws when the published height must not be read. */
  readonly require?: (published: PublishedMeta) => void
}

/** Waits between tries, milliseconds; from a refresh to its publication it is a few. */
const WAITS_MS = [2, 4, 8, 16, 32, 50]
export const waitMs = (attempt: number): number => WAITS_MS[Math.min(attempt, WAITS_MS.length - 1)] ?? 0
/** Reads, a second of waiting in all, after which a height below the last one is believed. */
const LAG_TRIES = 24
/**
 * The published height is read once for all callers that come within these milliseconds: a busy service reads it a
 * hundred times a second, not once for each request.
 */
export const LOOK_SERVES_MS = 10

/** The stamp of a published height; -1 before the first. */
const stampOrNone = (published: PublishedMeta | undefined): number =>
  published === undefined ? -1 : stampOf(published)

/** The published height as this process knows it: the last one, and reading it again. */
export const knownHeight = ({ readPublished, sleep, now, nothing, require }: HeightOptions) => {
  let known: PublishedMeta | undefined
  /** `done` is false when the read failed or its caller gave up. */
  let look: { readonly at: number; readonly done: Promise<boolean> } | undefined

  /** Replicas lag: a read may return an older height, and we never go back. If it stays lower, the store was recreated. */
  const readNotBelow = async (least: number, signal: AbortSignal | undefined) => {
    let read = await readPublished(signal)
    for (let attempt = 0; attempt < LAG_TRIES && stampOrNone(read) < least; attempt++) {
      await sleep(waitMs(attempt))
      read = await readPublished(signal)
    }
    return read
  }
  const fresh = async (signal: AbortSignal | undefined): Promise<PublishedMeta> => {
    const least = stampOrNone(known)
    const read = await readNotBelow(least, signal)
    // A read that began later and ended sooner may have brought a newer height meanwhile.
    if (known !== undefined && read !== undefined && stampOf(known) > least && stampOf(read) < stampOf(known))
      return known
    // The same batch keeps the same value, and with it what is cached by it.
    if (read === undefined || read.batch !== known?.batch) known = read
    if (known === undefined) throw nothing()
    require?.(known)
    return known
  }
  /** As `fresh`, or as another caller read it just now. */
  const current = async (signal: AbortSignal | undefined): Promise<PublishedMeta> => {
    const at = now()
    if (look !== undefined && Math.abs(at - look.at) < LOOK_SERVES_MS) {
      // By now `known` may be newer than that read, never older.
      if ((await look.done) && known !== undefined) return known
      return fresh(signal)
    }
    const reading = fresh(signal)
    const done = reading.then(
      () => true,
      () => false,
    )
    look = { at, done }
    return reading
  }
  return {
    known: () => known,
    fresh,
    current,
    /** After a publication: the next caller reads for itself. */
    lookAgain: (): void => {
      look = undefined
    },
  }
}

type Look = HeightOptions['readPublished']

/**
 * Reads the published height, and keeps the last readable one when the migration of a newer program publishes documents
 * of another edition. The old indices stay complete until an operator deletes them, so a running program answers from
 * them until it is restarted.
 */
export const readableFrom = (look: Look): Look => {
  let last: PublishedMeta | undefined
  return async signal => {
    const found = await look(signal)
    const isOther = found?.edition !== undefined && found.edition !== EDITION
    if (last !== undefined && isOther && found.edition !== last.edition) return last
    last = found
    return found
  }
}
