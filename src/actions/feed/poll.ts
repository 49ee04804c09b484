import { type Failure, failureOf } from '#failure/failure.ts'
import type { Published, Store } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import { every } from '#time/every.ts'

export type Poller = {
  /** Called with what is published now, whether it is new or not. A call that takes too long is aborted. */
  height(published: Published | undefined, signal: AbortSignal): Promise<void> | void
  /** Time for a sign of life. */
  beat(): void
  /** The store could not be read for so long that readers should know; called instead of further heights. */
  silent(failure: Failure): void
}

/** Between two reads of the published height. The chain makes a block every 500 ms. */
const POLL_MS = 100
/** A sign of life for readers who get nothing. */
const BEAT_MS = 15_000
/** A store that cannot be read for this time ends the feeds: silence would say that there is nothing new. */
const SILENT_MS = 5_000

export type PollClock = Pick<Clock, 'sleep' | 'elapsed' | 'after'>

/** Reads the published height again and again, until the returned function is called. */
export const pollHeight = (
  store: Pick<Store, 'published'>,
  clock: PollClock,
  poller: Poller,
): (() => void) => {
  let reading = new AbortController()
  let good = clock.elapsed()
  let beaten = good
  let isStopped = false
  const stop = (): void => {
    isStopped = true
    polling.stop()
    reading.abort()
  }
  const polling = every(clock, POLL_MS, async () => {
    reading = new AbortController()
    const cancel = clock.after(SILENT_MS, () => reading.abort())
    try {
      const published = await store.published()
      if (isStopped) return
      await poller.height(published, reading.signal)
      good = clock.elapsed()
    } catch (error) {
      if (isStopped || clock.elapsed() - good < SILENT_MS) return
      stop()
      poller.silent(failureOf(error))
    } finally {
      cancel()
    }
    if (isStopped || clock.elapsed() - beaten < BEAT_MS) return
    beaten = clock.elapsed()
    poller.beat()
  })
  return stop
}
