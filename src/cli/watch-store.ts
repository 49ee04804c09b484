import { Failure, getErrorMessage } from '#failure/failure.ts'
import type { Log } from '#failure/log.ts'
import { requireServable, type ServedStore } from '#store/require-servable.ts'
import type { Clock } from '#time/clock.ts'

/** Milliseconds between two checks: a deleted or replaced store is logged after a second or two. */
const EVERY_MS = 1_000

/** The help for an unreachable store, unless the failure has its own. */
const HELP = "The service keeps checking. Run 'iostlens doctor' if the store does not recover by itself."

type Trouble = { readonly reason: string; readonly help: string }

const toTrouble = (error: unknown): Trouble => ({
  reason: getErrorMessage(error),
  help: (error instanceof Failure ? error.help : undefined) ?? HELP,
})

/**
 * Checks the store regularly, with or without requests. It logs when the store can no longer be served from, with the
 * reason and the remedy, and when it can again, and calls `onRecovery` then. Only one check runs at a time; `stop` does not wait for the last one.
 */
export function watchStore(
  store: ServedStore,
  clock: Pick<Clock, 'sleep'>,
  { log, onRecovery }: { readonly log: Log; readonly onRecovery: () => void },
): { stop(): void } {
  const stopping = new AbortController()
  let trouble: Trouble | undefined
  const check = async (): Promise<Trouble | undefined> => {
    try {
      await requireServable(store, stopping.signal)
      return undefined
    } catch (error) {
      return toTrouble(error)
    }
  }
  const note = (found: Trouble | undefined): void => {
    if (found?.reason === trouble?.reason) return
    if (found !== undefined) log('error', 'The store cannot be used; requests are refused.', found)
    else {
      log('info', 'The store can be used again.', { store: store.name })
      onRecovery()
    }
    trouble = found
  }
  const watch = async (): Promise<void> => {
    for (;;) {
      const found = await check()
      if (stopping.signal.aborted) return
      note(found)
      await clock.sleep(EVERY_MS, stopping.signal)
      if (stopping.signal.aborted) return
    }
  }
  void watch()
  return { stop: () => stopping.abort() }
}
