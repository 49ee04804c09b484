import type { Log } from '#failure/log.ts'
import type { Rates } from '#keys/rate.ts'
import type { Usage } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import { every } from '#time/every.ts'

/** Milliseconds of counting that a killed process loses, and by which other processes lag behind. */
const SHARE_MS = 1_000

/**
 * Keeps the daily counts of keys in a file, so that a restart does not reset them. If the file cannot be opened or
 * written, the service still serves, counts for this process alone, and logs it.
 */
export const keepCounts = (
  rates: Rates,
  {
    file,
    open,
    clock,
  }: { readonly file: string; readonly open: () => Usage; readonly clock: Pick<Clock, 'sleep'> },
  log: Log,
): { stop(): void } => {
  let usage: Usage | undefined
  let isFailing = false
  const share = (): void => {
    try {
      usage ??= open()
      rates.share(usage)
      isFailing = false
    } catch (error) {
      if (!isFailing)
        log('warn', 'The daily request counts of keys cannot be saved; a restart resets them.', {
          file,
          reason: error instanceof Error ? error.message : String(error),
        })
      isFailing = true
    }
  }
  share()
  const sharing = every(clock, SHARE_MS, share)
  return {
    stop: () => {
      sharing.stop()
      share()
      usage?.close()
    },
  }
}
