import type { Log } from '#failure/log.ts'
import { type Lateness, watchLateness } from '#gate/lateness.ts'
import { createMetricsApp } from '#http/metrics-app.ts'
import { createExposition, type Exposition } from '#metrics/expose.ts'
import { systemClock } from '#time/clock.ts'
import { formatUrl, listening } from '../listen.ts'
import type { Address } from '../readers.ts'
import { catalogue, type MetricCounts } from './catalogue.ts'
import { type ReadFrom, readings } from './readings.ts'

/** The metrics of a process as text. */
export function exposeMetrics(counts: MetricCounts, from: ReadFrom): Exposition {
  return createExposition(catalogue, counts, readings(from, counts))
}

/**
 * Records each second the lateness of the event loop and the number of log lines dropped. Does not keep the process
 * alive.
 */
export function watchEventLoop(counts: MetricCounts, droppedLines: () => number): Lateness {
  return watchLateness(ms => {
    counts.eventLoop.observe(ms / 1_000)
    counts.droppedLines.set(droppedLines())
  })
}

/** Serves `/metrics` on an address of its own. Throws 'usage' when the address is not available. */
export function serveMetrics(
  address: Address,
  { counts, log, ...from }: ReadFrom & { readonly counts: MetricCounts; readonly log: Log },
): { readonly url: string; readonly stop: () => Promise<void> } {
  const app = createMetricsApp({
    metrics: exposeMetrics(counts, from),
    version: from.version,
    log,
    clock: systemClock,
    counts,
  })
  const server = listening(address, '--metrics-listen', () => {
    app.listen({ hostname: address.host, port: address.port, reusePort: false })
    return app.server
  })
  const url = formatUrl({ host: address.host, port: server.port ?? address.port })
  log('info', 'Serving metrics.', { url: `${url}/metrics` })
  return { url, stop: () => server.stop(true) }
}
