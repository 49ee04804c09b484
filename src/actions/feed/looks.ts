import { Failure } from '#failure/failure.ts'
import type { Published, Store } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import { every } from '#time/every.ts'

/** Follows the published height. */
export type Looker = {
  /** Called with what is published now, whether it is new or not; not called again before it has returned. */
  look(published: Published | undefined, signal: AbortSignal): Promise<void> | void
  /** Time for a sign of life. */
  beat(): void
  /** The looker has not been able to read the store for so long that whoever waits should know. */
  silent(failure: Failure): void
}

/** Reads the published height while anybody follows it: once for all of them. */
export type Looks = {
  begin(looker: Looker): void
  end(looker: Looker): void
}

/** Between two looks at the published height. The chain makes a block every 500 ms. */
const LOOK_MS = 100
/** A sign of life for readers who get nothing. */
const BEAT_MS = 15_000
/** A store that cannot be read for so long ends the feeds: silence would say that there is nothing new. */
const SILENT_MS = 5_000

type LookClock = Pick<Clock, 'sleep' | 'elapsed' | 'after'>

export const storeLooks = (store: Pick<Store, 'published'>, clock: LookClock): Looks => {
  const lookings = new Map<Looker, Looking>()
  let regular: { stop(): void } | undefined
  let beaten = 0
  const look = async (): Promise<void> => {
    // Who comes while the store answers waits for the next answer: this one may be older than what others were told.
    const idle = [...lookings.values()].filter(({ isLooking }) => !isLooking())
    try {
      const published = await store.published()
      for (const each of idle) void each.look(published)
    } catch (error) {
      for (const each of idle) each.failed(error)
    }
    if (clock.elapsed() - beaten < BEAT_MS) return
    beaten = clock.elapsed()
    for (const each of lookings.keys()) each.beat()
  }
  return {
    begin: looker => {
      if (lookings.has(looker)) return
      lookings.set(looker, lookingOf(looker, clock))
      if (regular !== undefined) return
      beaten = clock.elapsed()
      regular = every(clock, LOOK_MS, look)
    },
    end: looker => {
      lookings.get(looker)?.stop()
      lookings.delete(looker)
      if (lookings.size > 0) return
      regular?.stop()
      regular = undefined
    },
  }
}

/** The looks of one looker: none waits for those of another, or ends with them. */
type Looking = {
  readonly isLooking: () => boolean
  look(published: Published | undefined): Promise<void>
  failed(error: unknown): void
  /** What is being looked at is given up. */
  stop(): void
}

/** A look that takes as long as a store may be silent is given up. */
const lookingOf = (looker: Looker, clock: LookClock): Looking => {
  const stopping = new AbortController()
  let good = clock.elapsed()
  let isLooking = false
  const failed = (error: unknown): void => {
    if (stopping.signal.aborted || clock.elapsed() - good < SILENT_MS) return
    looker.silent(error instanceof Failure ? error : new Failure('defect', String(error), { cause: error }))
  }
  return {
    isLooking: () => isLooking,
    failed,
    stop: () => stopping.abort(),
    look: async published => {
      if (stopping.signal.aborted) return
      isLooking = true
      const own = new AbortController()
      const giveUp = (): void => own.abort()
      stopping.signal.addEventListener('abort', giveUp)
      const cancel = clock.after(SILENT_MS, giveUp)
      try {
        await looker.look(published, own.signal)
        good = clock.elapsed()
      } catch (error) {
        failed(error)
      } finally {
        isLooking = false
        cancel()
        stopping.signal.removeEventListener('abort', giveUp)
      }
    },
  }
}
