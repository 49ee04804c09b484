import type { Failure } from '#failure/failure.ts'
import type { Published, Store } from '#store/port.ts'
import { type PollClock, pollHeight } from './poll.ts'

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
export const heightWatch = (store: Pick<Store, 'published'>, clock: PollClock) => {
  const watchers = new Set<Watcher>()
  let known: Published | undefined
  let knownFrom = 0
  let stop: () => void = () => undefined
  const height = (now: Published | undefined): void => {
    // A block that replaced another one at its height is news, too.
    if (now === undefined || (known?.height === now.height && known.hash === now.hash)) return
    if (known !== undefined && clock.elapsed() - knownFrom < LEAST_MS) return
    known = now
    knownFrom = clock.elapsed()
    for (const watcher of watchers) watcher.published(now)
  }
  const beat = (): void => {
    for (const watcher of watchers) watcher.beat()
  }
  const remove = (watcher: Watcher): void => {
    if (!watchers.delete(watcher) || watchers.size > 0) return
    stop()
    known = undefined
  }
  const silent = (failure: Failure): void => {
    for (const watcher of [...watchers]) {
      remove(watcher)
      watcher.end(failure)
    }
  }
  return (watcher: Watcher): (() => void) => {
    if (watchers.size === 0) stop = pollHeight(store, clock, { height, beat, silent })
    watchers.add(watcher)
    if (known !== undefined) watcher.published(known)
    return () => remove(watcher)
  }
}
