import { type Failure, toFailure } from '#failure/failure.ts'
import type { Published, Store } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import { every } from '#time/every.ts'

export type Poller = {
  /** Called with the published height at each poll, whether it is new or not. A call that takes too long is aborted. */
  height(published: Published | undefined, signal: AbortSignal): Promise<void> | void
  /** Time for a heartbeat. */
  beat(): void
  /** Called once instead of further heights, when the store has been unreadable for `SILENT_MS`. */
  silent(failure: Failure): void
}

/** Interval between two reads of the published height. The chain makes a block every 500 ms. */
const POLL_MS = 100
/** Interval of the heartbeat. */
const BEAT_MS = 15_000
/** The feeds end when the store cannot be read for this time: silence would mean that there is nothing new. */
const SILENT_MS = 5_000

export type PollClock = Pick<Clock, 'sleep' | 'elapsed' | 'after'>

/** Polls the published height until the returned function is called. */
export function pollHeight(store: Pick<Store, 'published'>, clock: PollClock, poller: Poller): () => void {
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
      poller.silent(toFailure(error))
    } finally {
      cancel()
    }
    if (isStopped || clock.elapsed() - beaten < BEAT_MS) return
    beaten = clock.elapsed()
    poller.beat()
  })
  return stop
}
