import { Failure } from '#failure/failure.ts'
import type { Log } from '#failure/log.ts'
import type { Rates } from '#gate/rate.ts'
import type { Usage } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import { within } from '#time/deadline.ts'
import { every } from '#time/every.ts'

/**
 * Milliseconds between two exchanges of counts. A count that another process has stored is fetched in the next exchange,
 * so twice this is less than the second by which processes may lag behind one another.
 */
const SHARE_MS = 400
/** Longest wait of the start for the counts of today. */
const FIRST_MS = 5_000
/** Longest wait of the stop for the last counts to be stored. */
const LAST_MS = 2_000

export type CountKeeping = {
  /** Where all processes on this store count. */
  readonly usage: Usage
  /** Where this machine counts when the store lets nobody write counts. */
  readonly local: { readonly usage: Usage; readonly file: string }
  readonly clock: Pick<Clock, 'sleep' | 'after'>
}

/** Keeps the counts of keys until it is stopped, which stores the last of them. */
export type Counting = { stop(): Promise<void> }

/**
 * Keeps the daily counts of keys in the store, so that a restart does not reset them and all processes on one store
 * count together. While they cannot be written, the service still serves, counts for this process alone, and logs it.
 * Resolves when the counts of today are known, or cannot be had soon.
 */
export const keepCounts = async (
  rates: Rates,
  { usage, local, clock }: CountKeeping,
  log: Log,
): Promise<Counting> => {
  let place = usage
  let hasStored = false
  let isFailing = false
  const told = (text: string, error: unknown): void => {
    if (!isFailing) log('warn', text, { reason: error instanceof Error ? error.message : String(error) })
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
        told(`The daily request counts of keys are kept in ${local.file}: the store accepts none.`, error)
        return share()
      }
      told('The daily request counts of keys cannot be saved; a restart resets them.', error)
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
