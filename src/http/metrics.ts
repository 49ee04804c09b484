import type { Exposition } from '#metrics/expose.ts'
import type { Handler } from './exchange.ts'
import { textReply } from './reply.ts'

/** `/metrics`: the counts of the process, in the text format of Prometheus. */
export const metricsHandler =
  ({ type, text }: Exposition): Handler =>
  async () =>
    textReply(200, { type, text: await text() }, { headers: { 'Cache-Control': 'no-store' }, form: 'tagged' })
