import type { Failure } from '#failure/failure.ts'
import type { Published } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import type { Looker, Looks } from './looks.ts'

/** Wants to know each height that is published, and no rows. */
export type Watcher = {
  /** The last one is called at once where it is known; of several within a moment only the last. */
  published(height: number): void
  /** A sign of life. */
  beat(): void
  /** Nothing more comes. */
  end(failure: Failure): void
}

/** Between two heights that watchers learn of. A store that catches up publishes many a second. */
const LEAST_MS = 250

/** Tells those who watch; each stays until the function that it gets is called. */
export const heightWatch = (looks: Looks, clock: Pick<Clock, 'elapsed'>) => {
  const watchers = new Set<Watcher>()
  let known: Published | undefined
  let knownFrom = 0
  const remove = (watcher: Watcher): void => {
    watchers.delete(watcher)
    if (watchers.size > 0) return
    looks.end(looker)
    known = undefined
  }
  const looker: Looker = {
    look: now => {
      // A block that took another one's place at its height is news, too.
      if (now === undefined || (known?.height === now.height && known.hash === now.hash)) return
      if (known !== undefined && clock.elapsed() - knownFrom < LEAST_MS) return
      known = now
      knownFrom = clock.elapsed()
      for (const watcher of watchers) watcher.published(now.height)
    },
    beat: () => {
      for (const watcher of watchers) watcher.beat()
    },
    silent: failure => {
      for (const watcher of [...watchers]) {
        remove(watcher)
        watcher.end(failure)
      }
    },
  }
  return (watcher: Watcher): (() => void) => {
    watchers.add(watcher)
    if (known !== undefined) watcher.published(known.height)
    looks.begin(looker)
    return () => remove(watcher)
  }
}
