import { language } from './action-operation.ts'
import type { Json } from './described.ts'
import { headersNamed } from './headers.ts'
import { closedObject, errorRefs } from './responses.ts'
import { loadProperties, openOperation, version } from './service-operations.ts'

const text = (description: string): Json => ({ type: 'string', description })

const troubles: Json = {
  type: 'array',
  description: 'Current problems, each with its remedy, in both languages.',
  items: closedObject({
    what: text('Description of the problem.'),
    what_zh: text('The same in Chinese.'),
    help: text('Remedy.'),
    help_zh: text('The same in Chinese.'),
  }),
}

/** The figures of the load; null: unknown. */
const nullable = Object.fromEntries(
  Object.entries(loadProperties).map(([name, schema]) => [
    name,
    { anyOf: [schema, { type: 'null' }], description: 'As in /ready; null when it is unknown.' },
  ]),
)

const statusProperties: Json = {
  version,
  since: text('When the process began to serve, ISO-8601 UTC.'),
  ...nullable,
  whole: {
    type: 'boolean',
    description: 'Whether the store can be read, and neither checks nor answers found damage in it.',
  },
  blocks_per_second: {
    type: ['number', 'null'],
    minimum: 0,
    description: 'Blocks published per second since /status was first requested; null until there is enough data.',
  },
  troubles,
}

export const statusOperation: Json = {
  ...openOperation('status', {
    en: 'State of the service, as a web page; JSON where Accept asks for application/json and not for text/html.',
    zh: '服务的运行状态，以网页显示；Accept 要求 application/json 且不要求 text/html 时为 JSON。',
    responses: {
      200: {
        description: 'The status, healthy or not: programs that decide by the HTTP status ask /ready.',
        headers: {
          ...headersNamed(['X-Request-Id', 'Cache-Control']),
          'Content-Language': {
            description: 'Language of the page.',
            required: false,
            schema: { type: 'string', enum: ['en', 'zh-CN'] },
          },
        },
        content: {
          'application/json': { schema: closedObject(statusProperties) },
          'text/html': { schema: { type: 'string' } },
        },
      },
    },
  }),
  parameters: [language],
}

const METRICS_HEADERS = headersNamed(['ETag', 'X-Request-Id', 'Cache-Control'])

export const metricsOperation: Json = openOperation('metrics', {
  en: 'Metrics of the process in the text format of Prometheus. With --metrics-listen they are served at that address only, and this path returns 404.',
  zh: '进程的监控指标，采用 Prometheus 文本格式。设置 --metrics-listen 时仅在该地址提供，此处返回 404。',
  responses: {
    200: {
      description: 'The metrics.',
      headers: METRICS_HEADERS,
      content: { 'text/plain': { schema: { type: 'string' } } },
    },
    304: { description: 'Not modified: If-None-Match contains the current ETag.', headers: METRICS_HEADERS },
    ...errorRefs(status => status === 404),
  },
})
