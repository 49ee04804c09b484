import { Elysia } from 'elysia'
import { Failure, type Log } from '#failure/failure.ts'
import type { Exposition } from '#metrics/counters.ts'
import type { Clock } from '#time/clock.ts'
import type { HttpCounts } from './counts.ts'
import { clientAddresses, type Handler, type Service } from './exchange.ts'
import { beforeRouting } from './methods.ts'
import { textReply } from './reply.ts'
import { respond } from './request.ts'
import { healthHandler } from './status.ts'

/** `/metrics`: the counts of the process, in the text format of Prometheus. */
export const metricsHandler =
  ({ type, text }: Exposition): Handler =>
  async () =>
    textReply(200, { type, text: await text() }, { headers: { 'Cache-Control': 'no-store' }, form: 'tagged' })

/** `/metrics` on a separate address, with `/health` and no other path. */
export function createMetricsApp(options: {
  readonly metrics: Exposition
  readonly version: string
  readonly log: Log
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  readonly counts: HttpCounts
}): Elysia {
  const clients = clientAddresses(() => app.server, [])
  const service: Service = {
    ...options,
    defaults: { format: 'envelope', compat: 'none' },
    basePath: '',
    // A slower scrape is useless.
    deadlineMs: 10_000,
    isLogged: () => false,
    clientOf: clients.of,
  }
  const metrics = respond('metrics', metricsHandler(options.metrics), service)
  const health = respond('health', healthHandler(options.version), service)
  const notFound = async (): Promise<never> => {
    throw new Failure('not_found', 'This path does not exist. Available paths: /metrics, /health.', {
      zh: '此路径不存在。可用路径：/metrics, /health。',
    })
  }
  const unknown = respond('unknown', notFound, service)
  const app: Elysia = new Elysia({ systemRouter: false, nativeStaticResponse: false })
  app
    .onRequest(({ request }) => beforeRouting(request, { service, get: inner => app.handle(inner) }))
    .get('/metrics', ({ request }) => metrics(request))
    .get('/health', ({ request }) => health(request))
    .get('/*', ({ request }) => unknown(request))
    .onError(({ request }) => unknown(request))
  return app
}
