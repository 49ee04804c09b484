import type { Log } from '#failure/log.ts'
import type { Store } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'

/** Between two looks, in milliseconds: what was deleted or replaced is in the log after a second or two. */
const EVERY_MS = 1_000

/**
 * Checks the store regularly, with or without requests, and logs when it can no longer be served from, with the reason,
 * and when it can again. One check at a time; `stop` does not wait for the last one.
 */
export const watchStore = (
  store: Pick<Store, 'name' | 'published' | 'whole'>,
  clock: Pick<Clock, 'sleep'>,
  log: Log,
): { stop(): void } => {
  const stopping = new AbortController()
  let trouble: string | undefined
  const look = async (): Promise<string | undefined> => {
    try {
      await store.whole?.(stopping.signal)
      await store.published()
      return undefined
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
  const note = (found: string | undefined): void => {
    if (found === trouble) return
    if (found !== undefined) log('error', 'The store cannot be served from.', { reason: found })
    else log('info', 'The store can be served from again.', { store: store.name })
    trouble = found
  }
  const watch = async (): Promise<void> => {
    for (;;) {
      const found = await look()
      if (stopping.signal.aborted) return
      note(found)
      await clock.sleep(EVERY_MS, stopping.signal)
      if (stopping.signal.aborted) return
    }
  }
  void watch()
  return { stop: () => stopping.abort() }
}
