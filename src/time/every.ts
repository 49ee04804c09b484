import type { Clock } from './clock.ts'

/** Does `work` every `ms`, one after the other, until `stop`; a failure of `work` must be its own business. */
export const every = (
  clock: Pick<Clock, 'sleep'>,
  ms: number,
  work: () => Promise<void> | void,
): { stop(): void } => {
  const stopping = new AbortController()
  const run = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(ms, stopping.signal)
      if (stopping.signal.aborted) return
      await work()
    }
  }
  void run()
  return { stop: () => stopping.abort() }
}
