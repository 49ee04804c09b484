import { ANSWER_SOURCES } from '#actions/answer.ts'
import { actions } from '#actions/registry.ts'
import { type Counters, counter, createCounters, type Definition, histogram, label } from '#metrics/counters.ts'
import { codes } from './codes.ts'
import { SOURCES } from './gateway.ts'
import { rpcMethods } from './rpc-methods.ts'

/** The routes of the service, by their names in the log. */
const ROUTES = [
  'api',
  'rpc',
  'docs',
  'openapi',
  'client',
  'health',
  'ready',
  'status',
  'metrics',
  'usage',
  'explorer',
  'download',
  'asset',
  'live',
  'start',
  'unknown',
  'error',
  'method',
] as const

/** The label values of requests. Requests of `/api/` and `/rpc/` have their action as well. */
const targets: readonly (readonly [route: string, module: string, action: string])[] = [
  ...ROUTES.map(route => [route, '', ''] as const),
  ...actions.map(({ module, action }) => ['api', module, action] as const),
  ...rpcMethods.map(({ name }) => ['rpc', '', name] as const),
]
const target = { names: ['route', 'module', 'action'], values: targets }
/** The label values of requests, joined by `/`. */
export const requestLabels: ReadonlySet<string> = new Set(targets.map(names => names.join('/')))

/** Statuses of the service's own answers. A node's status may be any other. */
const STATUSES = [200, 302, 304, 499, ...Object.values(codes).map(({ status }) => status)]
const status = label(
  'status',
  [...new Set(STATUSES)].sort((a, b) => a - b).map(value => String(value)),
)

/** Reasons of refusals: those below and the kinds of failures. */
const reason = label('reason', ['busy', 'stalled', ...Object.keys(codes)])

/** Bucket bounds in seconds. A page takes a few milliseconds; the longest request ends at its deadline. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** The metrics of requests. */
export const httpMetrics = {
  requests: counter(
    'iostlens_http_requests_total',
    'Requests answered. Status 499: the client left before the answer.',
    target,
    status,
  ),
  durations: histogram(
    'iostlens_http_request_duration_seconds',
    'Time from the request to its answer; of exports to the end of the body.',
    { buckets: SECONDS, dimensions: [target] },
  ),
  sentBytes: counter(
    'iostlens_http_response_bytes_total',
    'Bytes of the bodies of answers as they are sent, compressed or not.',
    target,
  ),
  refusals: counter('iostlens_http_refusals_total', 'Requests that were refused or failed, by reason.', reason),
  damageMet: {
    name: 'iostlens_store_damage_met',
    help: '1 when an answer was refused because of damage in the store, since the start or since the store was last unusable, otherwise 0.',
    type: 'gauge',
    dimensions: [],
  },
  answers: counter(
    'iostlens_answers_total',
    'Answers of actions that equal calls share, by where they come from: the store; an equal call under way; memory.',
    label('source', ANSWER_SOURCES),
  ),
  gatewayAnswers: counter(
    'iostlens_gateway_answers_total',
    'Answers of /rpc/, by where they come from: the best node; another node, because the best was slow or failing; a call that an equal request had begun; memory.',
    label('source', SOURCES),
  ),
  gatewayBytes: {
    name: 'iostlens_gateway_kept_bytes',
    help: 'Bytes of cached answers of nodes.',
    type: 'gauge',
    dimensions: [],
  },
} as const satisfies Record<string, Definition>

export type HttpCounts = Counters<keyof typeof httpMetrics>

export function createHttpCounts(): HttpCounts {
  return createCounters(httpMetrics)
}

/** The request fields of the access log: only known names, never text from the request. `key` is the id of the key. */
export type AccessLogFields = { key?: string; module?: string; action?: string }
