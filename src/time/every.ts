import type { Clock } from './clock.ts'

/** Runs `work` every `ms`, one run after the other, until `stop`. `work` must handle its own failures. */
export function every(clock: Pick<Clock, 'sleep'>, ms: number, work: () => Promise<void> | void): { stop(): void } {
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
