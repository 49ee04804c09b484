import type { ScrapedMetric } from '#metrics/expose.ts'
import { LIMITS, type LoadPace } from '../load-pace.ts'

/** Metrics of the pace of a load; without values until something was committed. */
export function paceReadings(pace: () => LoadPace | undefined): readonly ScrapedMetric[] {
  const gauge = (name: string, help: string, of: (now: LoadPace) => number | undefined): ScrapedMetric => ({
    ...{ name, help, type: 'gauge' },
    read: () => {
      const now = pace()
      const value = now && of(now)
      return value === undefined ? [] : [{ value }]
    },
  })
  return [
    gauge('iostlens_load_progress_ratio', 'Part of the chain that is loaded, 0 to 1.', ({ share }) => share),
    gauge(
      'iostlens_load_seconds_left',
      'Time until the chain is loaded at the present rate; no value while the load makes no progress.',
      ({ secondsLeft }) => secondsLeft,
    ),
    {
      name: 'iostlens_load_rate',
      help: 'Loading rate per second, over about ten seconds; documents: blocks, transactions and records.',
      type: 'gauge',
      labels: ['of'],
      read: () => {
        const now = pace()
        if (now === undefined) return []
        const { blocks, transactions, documents } = now
        return Object.entries({ blocks, transactions, documents }).map(([of, value]) => ({
          labels: [of],
          value,
        }))
      },
    },
    {
      name: 'iostlens_load_limit',
      help: '1 for the stage that took most of the last seconds of the load: waiting for the node, deriving, or waiting for the store.',
      type: 'gauge',
      labels: ['by'],
      read: () => {
        const limit = pace()?.limit
        return limit === undefined ? [] : LIMITS.map(by => ({ labels: [by], value: by === limit ? 1 : 0 }))
      },
    },
  ]
}
