import { Failure } from '#failure/failure.ts'
import { type Clock, systemClock } from '#time/clock.ts'
import { joinSignals } from '#time/signals.ts'

/** The system's clock for one store: once `closed` aborts, every sleep ends with 'unavailable'. */
export const closingClock = (closed: AbortSignal): Clock => ({
  ...systemClock,
  sleep: async (ms, signal) => {
    const ends = joinSignals(closed, signal)
    await systemClock.sleep(ms, ends.signal)
    ends.release()
    if (closed.aborted) throw new Failure('unavailable', 'The store was closed.', { retryable: false })
  },
})
