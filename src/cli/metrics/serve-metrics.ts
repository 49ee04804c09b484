import type { Log } from '#failure/log.ts'
import { createMetricsApp } from '#http/metrics-app.ts'
import { countersIn } from '#metrics/counters.ts'
import { exposition } from '#metrics/expose.ts'
import { systemClock } from '#time/clock.ts'
import { listening, urlOf } from '../listen.ts'
import type { Address } from '../readers.ts'
import { catalogue } from './catalogue.ts'
import type { ProcessMetrics } from './process-metrics.ts'
import { type ReadFrom, readings } from './readings.ts'

/** The metrics of a process as text. */
export const exposedBy = ({ memory }: Pick<ProcessMetrics, 'memory'>, from: ReadFrom) =>
  exposition(catalogue, memory, readings(from, countersIn(catalogue, memory, 0)))

/** Serves `/metrics` on an address of its own. Throws 'usage' when the address is not available. */
export const serveMetrics = (
  address: Address,
  { metrics, log, ...from }: ReadFrom & { readonly metrics: ProcessMetrics; readonly log: Log },
): { readonly url: string; readonly stop: () => Promise<void> } => {
  const app = createMetricsApp({
    metrics: exposedBy(metrics, from),
    version: from.version,
    log,
    clock: systemClock,
    counts: metrics.own,
  })
  const server = listening(address, '--metrics-listen', () => {
    app.listen({ hostname: address.host, port: address.port, reusePort: false })
    return app.server
  })
  const url = urlOf({ host: address.host, port: server.port ?? address.port })
  log('info', 'Serving metrics.', { url: `${url}/metrics` })
  return { url, stop: () => server.stop(true) }
}
