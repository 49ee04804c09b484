import type { Turn } from '#actions/answer.ts'
import type { Clock } from '#time/clock.ts'
import { Busy } from './fair-queue.ts'

/** Pause before a turn is asked for again: the service is busy, and a body that is sent for minutes can wait. */
const BUSY_MS = 100

/** Turns that are asked for until there is one: a body that goes on gives way to requests, and is not broken off by them. */
export const patient =
  (
    turn: Turn,
    { clock, signal }: { readonly clock: Pick<Clock, 'sleep'>; readonly signal: AbortSignal },
  ): Turn =>
  async () => {
    for (;;) {
      try {
        return await turn()
      } catch (error) {
        if (!(error instanceof Busy)) throw error
      }
      await clock.sleep(BUSY_MS, signal)
      signal.throwIfAborted()
    }
  }
