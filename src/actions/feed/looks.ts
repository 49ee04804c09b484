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
  /** The store has not been readable for so long that whoever waits should know. */
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
  const lookers = new Set<Looker>()
  let stop: (() => void) | undefined
  const look = async (signal: AbortSignal): Promise<void> => {
    const published = await store.published()
    await Promise.all([...lookers].map(each => each.look(published, signal)))
  }
  const beat = (): void => {
    for (const each of lookers) each.beat()
  }
  const silent = (failure: Failure): void => {
    for (const each of [...lookers]) each.silent(failure)
  }
  return {
    begin: each => {
      lookers.add(each)
      stop ??= looking(look, clock, { beat, silent })
    },
    end: each => {
      lookers.delete(each)
      if (lookers.size > 0) return
      stop?.()
      stop = undefined
    },
  }
}

/** Looks regularly until the returned function is called; a look that takes as long as a store may be silent is given up. */
const looking = (
  look: (signal: AbortSignal) => Promise<void>,
  clock: LookClock,
  { beat, silent }: { readonly beat: () => void; readonly silent: (failure: Failure) => void },
): (() => void) => {
  const stopping = new AbortController()
  let good = clock.elapsed()
  let beaten = good
  const { stop } = every(clock, LOOK_MS, async () => {
    const own = new AbortController()
    const giveUp = (): void => own.abort()
    stopping.signal.addEventListener('abort', giveUp)
    const cancel = clock.after(SILENT_MS, giveUp)
    try {
      await look(own.signal)
      good = clock.elapsed()
    } catch (error) {
      if (!stopping.signal.aborted && clock.elapsed() - good >= SILENT_MS)
        silent(error instanceof Failure ? error : new Failure('defect', String(error), { cause: error }))
    } finally {
      cancel()
      stopping.signal.removeEventListener('abort', giveUp)
    }
    if (clock.elapsed() - beaten < BEAT_MS) return
    beaten = clock.elapsed()
    beat()
  })
  return () => {
    stop()
    stopping.abort()
  }
}
