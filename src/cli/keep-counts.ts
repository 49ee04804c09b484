import type { Log } from '#failure/log.ts'
import type { Rates } from '#keys/rate.ts'
import type { Usage } from '#store/port.ts'

/** What a killed process loses of the day's counts, and how stale they are between processes, in milliseconds. */
const SHARE_MS = 1_000

/**
 * Keeps the day's counts of keys in a file, so that a restart does not begin them anew. A file that can not be had is no
 * reason not to serve: then the counts are of this process alone, and the log says so.
 */
export const keepCounts = (
  rates: Rates,
  { file, open }: { readonly file: string; readonly open: () => Usage },
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
  const timer = setInterval(share, SHARE_MS)
  return {
    stop: () => {
      clearInterval(timer)
      share()
      usage?.close()
    },
  }
}
