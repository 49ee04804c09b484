import type { Failure } from '#failure/failure.ts'
import type { Published, Store } from '#store/port.ts'
import { type PollClock, pollHeight } from './poll.ts'

/** A subscriber to published heights, without rows. */
export type Watcher = {
  /**
   * Called immediately with the last height if it is known, then with later ones. Of several heights within
   * `LEAST_MS`, only the last is sent.
   */
  published(published: Published): void
  /** A heartbeat. */
  beat(): void
  /** The last call: there are no more heights. */
  end(failure: Failure): void
}

/** Minimum interval between two heights for a watcher: a store that catches up publishes many per second. */
const LEAST_MS = 250

/** Distributes published heights to watchers. Each is subscribed until the returned function is called. */
export function heightWatch(store: Pick<Store, 'published'>, clock: PollClock) {
  const watchers = new Set<Watcher>()
  let known: Published | undefined
  let knownFrom = 0
  let stop: () => void = () => undefined
  const height = (now: Published | undefined): void => {
    // A different block at the same height is a change, too.
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
