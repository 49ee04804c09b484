import type { Failure } from '#failure/failure.ts'
import type { Published } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import type { Looker, Looks } from './looks.ts'

/** A reader of published heights, without rows. */
export type Watcher = {
  /** Called at once with the last height, if it is known, then with later ones: of several within `LEAST_MS`, only the last. */
  published(published: Published): void
  /** A sign of life. */
  beat(): void
  /** Nothing more comes. */
  end(failure: Failure): void
}

/** Shortest time between two heights that watchers get: a store that catches up publishes many a second. */
const LEAST_MS = 250

/** Hands published heights to watchers; each stays until the function that it was given is called. */
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
      // A block that replaced another one at its height is news, too.
      if (now === undefined || (known?.height === now.height && known.hash === now.hash)) return
      if (known !== undefined && clock.elapsed() - knownFrom < LEAST_MS) return
      known = now
      knownFrom = clock.elapsed()
      for (const watcher of watchers) watcher.published(now)
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
    if (known !== undefined) watcher.published(known)
    looks.begin(looker)
    return () => remove(watcher)
  }
}
