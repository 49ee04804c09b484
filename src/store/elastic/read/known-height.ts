import type { Failure } from '#failure/failure.ts'
import { otherVersion } from '#store/other-version.ts'
import type { PublishedMeta } from '../schema/checkpoint-record.ts'
import { stampOf } from '../schema/checkpoint-record.ts'
import { EDITION } from '../schema/mappings.ts'

export type HeightOptions = {
  readonly readPublished: (signal: AbortSignal | undefined) => Promise<PublishedMeta | undefined>
  readonly sleep: (ms: number) => Promise<void>
  readonly now: () => number
  readonly nothing: () => Failure
  /** The failure for a height under repair. */
  readonly underRepair: () => Failure
}

/** Pauses between attempts, milliseconds; publication follows a refresh within a few milliseconds. */
const WAITS_MS = [2, 4, 8, 16, 32, 50]
export const waitMs = (attempt: number): number => WAITS_MS[Math.min(attempt, WAITS_MS.length - 1)] ?? 0
/** Number of reads, over about a second, after which a height below the last known one is believed. */
const LAG_TRIES = 24
/**
 * The published height is read once for all callers within this time, in milliseconds. A busy service reads
 * it a hundred times a second, not once per request.
 */
export const READ_SERVES_MS = 10

/** The stamp of a published height; -1 before the first. */
const stampOrNone = (published: PublishedMeta | undefined): number =>
  published === undefined ? -1 : stampOf(published)

/** The published height as this process knows it: the last known height, and ways to read it again. */
export const knownHeight = ({ readPublished, sleep, now, nothing, underRepair }: HeightOptions) => {
  let known: PublishedMeta | undefined
  let shared: Shared | undefined
  let mayReadUnrepaired = false

  const fresh = async (signal: AbortSignal | undefined): Promise<PublishedMeta> => {
    const before = known
    let read = await readPublished(signal)
    // Nearly always the read height is the known one.
    if (read === undefined || read !== before || known !== before) read = await taken(read, before, signal)
    return requireRepaired(read)
  }
  /** The height, unless it is under repair. */
  const requireRepaired = (published: PublishedMeta): PublishedMeta => {
    if (published.mending && !mayReadUnrepaired) throw underRepair()
    return published
  }
  /** The known height after a read that found `found`; `before`: the known height when that read began. */
  const taken = async (
    found: PublishedMeta | undefined,
    before: PublishedMeta | undefined,
    signal: AbortSignal | undefined,
  ): Promise<PublishedMeta> => {
    const least = stampOrNone(before)
    const read = await notBelow(least, found, { sleep, again: () => readPublished(signal) })
    // A read that began later and ended sooner may have found a newer height meanwhile.
    if (known !== undefined && read !== undefined && stampOf(known) > least && stampOf(read) < stampOf(known))
      return known
    // An equal record keeps its object and thus its cache. A batch is published again with its inventory.
    if (read === undefined || !Bun.deepEquals(read, known)) known = read
    if (known === undefined) throw nothing()
    return known
  }
  /** Like `fresh`, or another caller's recent read; `known` may be newer than that read, never older. */
  const current = (signal: AbortSignal | undefined): PublishedMeta | Promise<PublishedMeta> => {
    const at = now()
    if (shared !== undefined && Math.abs(at - shared.at) < READ_SERVES_MS)
      return shared.isDone && known !== undefined && !known.mending ? known : afterThat(shared, signal)
    shared = sharedRead(at, fresh(signal))
    return shared.reading
  }
  /** A read that failed, or whose caller gave up, is not used for other callers. */
  const afterThat = async ({ reading }: Shared, signal: AbortSignal | undefined): Promise<PublishedMeta> => {
    return (await isFulfilled(reading)) && known !== undefined ? requireRepaired(known) : fresh(signal)
  }
  return {
    known: () => known,
    fresh,
    current,
    /** Called after a publication: the next caller reads the height itself. */
    expire: (): void => {
      shared = undefined
    },
    /** From now on the state of an unfinished repair is read, too. */
    readUnrepaired: (): void => {
      mayReadUnrepaired = true
    },
  }
}

const isFulfilled = (reading: Promise<unknown>): Promise<boolean> =>
  reading.then(
    () => true,
    () => false,
  )

/** Replicas lag: a read may return an older height, which is ignored. If it stays, the store was recreated. */
const notBelow = async (
  least: number,
  found: PublishedMeta | undefined,
  { sleep, again }: Pick<HeightOptions, 'sleep'> & { readonly again: () => ReturnType<ReadPublished> },
): Promise<PublishedMeta | undefined> => {
  let read = found
  for (let attempt = 0; attempt < LAG_TRIES && stampOrNone(read) < least; attempt++) {
    await sleep(waitMs(attempt))
    read = await again()
  }
  return read
}

/** A read of the height that several callers share. */
type Shared = { readonly at: number; isDone: boolean; readonly reading: Promise<PublishedMeta> }
const sharedRead = (at: number, reading: Promise<PublishedMeta>): Shared => {
  const made: Shared = { at, isDone: false, reading }
  reading.then(
    () => {
      made.isDone = true
    },
    () => undefined,
  )
  return made
}

type ReadPublished = HeightOptions['readPublished']

/**
 * Reads the published height. Throws when a program of another edition has published it, such as the migration of a
 * newer one: its documents may mean something else. Versions before the editions named none.
 */
export const readOwnEdition =
  (read: ReadPublished, store: string): ReadPublished =>
  async signal => {
    const found = await read(signal)
    const { edition = EDITION } = found ?? {}
    if (edition !== EDITION)
      throw otherVersion(store, `indices of edition ${edition}, but this process reads ${EDITION}`)
    return found
  }
