import { Failure, getErrorMessage } from '#failure/failure.ts'
import type { Log } from '#failure/log.ts'
import type { Rates } from '#gate/rate.ts'
import type { Usage } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import { within } from '#time/deadline.ts'
import { every } from '#time/every.ts'

/**
 * Milliseconds between two exchanges of counts. A count stored by another process is fetched in the next
 * exchange, so twice this must be less than the second by which processes may lag behind one another.
 */
const SHARE_MS = 400
/** Maximum time that the start waits for today's counts. */
const FIRST_MS = 5_000
/** Maximum time that the stop waits until the last counts are stored. */
const LAST_MS = 2_000

export type CountKeeping = {
  /** The counts shared by all processes on the store. */
  readonly usage: Usage
  /** The counts of this machine, used when the store accepts none. */
  readonly local: { readonly usage: Usage; readonly file: string }
  readonly clock: Pick<Clock, 'sleep' | 'after'>
}

/** A running exchange of counts; `stop` stores the last of them. */
export type Counting = { stop(): Promise<void> }

/**
 * Keeps the daily counts of keys in the store, so that a restart does not reset them and all processes on one
 * store count together. If the store refuses counts from the start, they are kept in a local file. While
 * counts cannot be saved at all, the service still serves, counts for this process alone, and logs it.
 * Resolves when today's counts are known, or after a short wait.
 */
export async function keepCounts(rates: Rates, { usage, local, clock }: CountKeeping, log: Log): Promise<Counting> {
  let place = usage
  let hasStored = false
  let isFailing = false
  const report = (text: string, error: unknown): void => {
    if (!isFailing) log('warn', text, { reason: getErrorMessage(error) })
    isFailing = true
  }
  const share = async (): Promise<void> => {
    try {
      await rates.share({
        add: async (day, counts, at) => {
          const all = await place.add(day, counts, at)
          hasStored ||= counts.size > 0
          return all
        },
      })
      isFailing = false
    } catch (error) {
      const isRefused = error instanceof Failure && !error.retryable
      if (place === usage && isRefused && !hasStored) {
        place = local.usage
        report(`The daily request counts of keys are kept in ${local.file}: the store accepts none.`, error)
        return share()
      }
      report('The daily request counts of keys cannot be saved; a restart resets them.', error)
    }
  }
  const first = share()
  await within(first, { ms: FIRST_MS, clock }).catch(() => undefined)
  let last = first
  const sharing = every(clock, SHARE_MS, () => {
    last = last.then(share)
    return last
  })
  return {
    stop: async () => {
      sharing.stop()
      await within(last.then(share), { ms: LAST_MS, clock }).catch(() => undefined)
      await local.usage.close()
    },
  }
}
