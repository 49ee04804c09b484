import type { ApiAction } from '#actions/define.ts'
import { formatExamplePath, formatMethodTemplate, type RpcMethod, rpcMethods, rpcUnavailable } from '../rpc-methods.ts'
import {
  actionOperation,
  buildSuccess,
  closedObject,
  type Described,
  dataSchema,
  describedActions,
  describeHeaders,
  errorContent,
  errorRefs,
  errorResponses,
  errorSchema,
  exportSchemas,
  formatRoute,
  formParameters,
  type HeaderName,
  headerComponents,
  type Json,
  language,
  mergeForm,
  NOT_MODIFIED,
  NOTHING,
  RATE_HEADERS,
  schemaName,
} from './action-operation.ts'

const HEADERS = describeHeaders(['X-Request-Id', 'Cache-Control', ...RATE_HEADERS])

/** A node method that the gateway allows. The node defines the answer. */
const rpcOperation = (method: RpcMethod): Json => ({
  operationId: method.name,
  tags: ['rpc'],
  summary: method.title.en,
  'x-summary-zh': method.title.zh,
  description: `The response of the node, byte for byte. Example: ${formatExamplePath(method)}`,
  parameters: method.segments.map(({ name, pattern, rule, example }) => ({
    name,
    in: 'path',
    required: true,
    description: `Format: ${rule.en}.`,
    schema: { type: 'string', pattern: pattern.source },
    example,
  })),
  responses: {
    200: { description: 'The response of the node.', headers: HEADERS, content: { 'application/json': {} } },
    400: {
      description: 'An error of the node, passed on unchanged (text/plain), or an error of this service.',
      headers: HEADERS,
      content: { 'text/plain': { schema: { type: 'string' } }, ...errorContent },
    },
    ...errorRefs(status => status !== 400),
  },
})

const count = (description: string): Json => ({ type: 'integer', minimum: 0, description })

const usage = closedObject({
  id: { type: 'string', description: 'Id of the key, which stays when the key is rotated.' },
  name: { type: 'string', description: 'Name that the operator gave the key.' },
  expires: { type: ['string', 'null'], description: 'When the key expires, ISO-8601 UTC; null: never.' },
  second: closedObject({
    limit: count('Requests per second.'),
    remaining: count('Requests left in this second.'),
  }),
  today: closedObject({
    limit: count('Requests per UTC day.'),
    used: count('Requests of today, counted by all processes of the service.'),
    remaining: count('Requests left today.'),
    resets: { type: 'string', description: 'When the day ends, ISO-8601 UTC.' },
  }),
})

const usageOperation = (described: Described): Json => ({
  operationId: 'usage',
  tags: ['service'],
  summary: 'Remaining requests of an API key. This call itself is not counted.',
  'x-summary-zh': 'API key 的剩余调用次数。此查询不计入调用次数。',
  parameters: [...formParameters(described), language],
  responses: {
    200: { ...buildSuccess(usage, mergeForm(described)), headers: describeHeaders(['X-Request-Id', 'Cache-Control']) },
    // It waits for no permit and does not count as a request.
    ...errorRefs(status => [400, 401, 403, 405, 414, 429, 500, 503, 504].includes(status)),
  },
})

/** The address of the specification, which takes any action. Its answer depends on the action. */
function anyOperation(actions: readonly ApiAction[], described: Described): Json {
  const name = (parameter: string, description: string, values: readonly string[]): Json => ({
    name: parameter,
    in: 'query',
    required: true,
    description: `${description} Not case-sensitive.`,
    schema: { type: 'string', enum: values },
  })
  return {
    operationId: 'query',
    tags: ['service'],
    summary: 'Any action, selected by module and action.',
    'x-summary-zh': '任意查询，由 module 与 action 指定。',
    description: 'The same queries as at the paths of the actions, where parameters and answers are described.',
    parameters: [
      name('module', 'Module that the action belongs to.', [...new Set(actions.map(({ module }) => module))]),
      name(
        'action',
        'Name of the query.',
        actions.map(({ action }) => action),
      ),
      {
        name: 'parameters',
        in: 'query',
        required: false,
        description: 'The parameters of the action.',
        style: 'form',
        explode: true,
        schema: { type: 'object', additionalProperties: { type: 'string' } },
      },
      ...formParameters(described),
      language,
    ],
    responses: {
      200: buildSuccess({ type: 'object', additionalProperties: true }, mergeForm(described)),
      304: NOT_MODIFIED,
      ...errorRefs(),
    },
  }
}

/** The failures of an operation that needs neither a key nor the store. */
const OPEN_ERRORS = errorRefs(status => [405, 414, 500, 504].includes(status))

/** An operation that needs no key. */
const openOperation = (
  operationId: string,
  { en, zh, responses }: { readonly en: string; readonly zh: string; readonly responses: Json },
): Json => ({
  operationId,
  tags: ['service'],
  summary: en,
  'x-summary-zh': zh,
  security: [],
  responses: { ...responses, ...OPEN_ERRORS },
})

/** A response of the service about itself. */
const jsonAnswer = (
  description: string,
  { schema, headers = [] }: { readonly schema: Json; readonly headers?: readonly HeaderName[] },
): Json => ({
  description,
  headers: describeHeaders(['X-Request-Id', 'Cache-Control', ...headers]),
  content: { 'application/json': { schema } },
})

const version: Json = { type: 'string', description: 'Version of the service.' }

const healthOperation: Json = openOperation('health', {
  en: 'Whether the process is running.',
  zh: '进程是否在运行。',
  responses: {
    200: jsonAnswer('The process is running.', {
      schema: closedObject({ status: { type: 'string', const: 'ok' }, version }),
    }),
  },
})

/** The progress of the load; absent while it is unknown. */
const loadProperties: Json = {
  height: { type: 'integer', minimum: 0, description: 'Height of the last loaded block.' },
  time: { type: 'string', description: 'Time of that block, ISO-8601 UTC.' },
  whole: {
    type: 'boolean',
    description: 'Whether no answer was refused because of damage in the store.',
  },
  lib: { type: 'integer', minimum: 0, description: 'Height of the last irreversible block.' },
  behind: {
    type: ['integer', 'null'],
    minimum: 0,
    description: 'Blocks that are irreversible and not loaded; null when it is unknown.',
  },
  behind_seconds: {
    type: ['number', 'null'],
    minimum: 0,
    description:
      "Seconds of the chain's time between the last loaded block and the node's last irreversible one; null when it is unknown.",
  },
  lag_seconds: {
    type: ['number', 'null'],
    minimum: 0,
    description:
      "Age of the last loaded block by the clock of the service, in seconds; null when that clock is before the block's time.",
  },
  node: {
    type: 'string',
    enum: ['none', 'reachable', 'unreachable', 'foreign', 'apart'],
    description:
      'The node followed; foreign: the node serves another chain than the store holds; apart: the node is on another branch.',
  },
  node_heard: {
    type: ['string', 'null'],
    description: 'Time of the last response from a node of the chain, ISO-8601 UTC; null when none has responded.',
  },
}

const readyOperation: Json = openOperation('ready', {
  en: 'Whether the service is ready to serve requests.',
  zh: '服务是否可以处理请求。',
  responses: {
    200: jsonAnswer('The service is ready.', {
      schema: closedObject({ ready: { type: 'boolean', const: true }, ...loadProperties, version }),
    }),
    503: jsonAnswer('The service is not ready; the response gives the reason.', {
      schema: closedObject(
        {
          ready: { type: 'boolean', const: false },
          reason: { type: 'string', description: 'Why it is not ready.' },
          ...loadProperties,
          version,
        },
        ['ready', 'reason', 'version'],
      ),
      headers: ['Retry-After'],
    }),
  },
})

const text = (description: string): Json => ({ type: 'string', description })

const statusProperties: Json = {
  version,
  since: text('When the process began to serve, ISO-8601 UTC.'),
  ...Object.fromEntries(
    Object.entries(loadProperties).map(([name, schema]) => [
      name,
      { anyOf: [schema, { type: 'null' }], description: 'As in /ready; null when it is unknown.' },
    ]),
  ),
  whole: {
    type: 'boolean',
    description: 'Whether the store can be read, and neither checks nor answers found damage in it.',
  },
  blocks_per_second: {
    type: ['number', 'null'],
    minimum: 0,
    description: 'Blocks published per second since /status was first requested; null until there is enough data.',
  },
  troubles: {
    type: 'array',
    description: 'Current problems, each with its remedy, in both languages.',
    items: closedObject({
      what: text('Description of the problem.'),
      what_zh: text('The same in Chinese.'),
      help: text('Remedy.'),
      help_zh: text('The same in Chinese.'),
    }),
  },
}

const statusOperation: Json = {
  ...openOperation('status', {
    en: 'State of the service, as a web page; JSON where Accept asks for application/json and not for text/html.',
    zh: '服务的运行状态，以网页显示；Accept 要求 application/json 且不要求 text/html 时为 JSON。',
    responses: {
      200: {
        description: 'The status, healthy or not: programs that decide by the HTTP status ask /ready.',
        headers: {
          ...describeHeaders(['X-Request-Id', 'Cache-Control']),
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

const METRICS_HEADERS = describeHeaders(['ETag', 'X-Request-Id', 'Cache-Control'])

const metricsOperation: Json = openOperation('metrics', {
  en: 'Metrics of the process in the text format of Prometheus. With --metrics-listen they are served at that address only, and this path returns 404.',
  zh: '进程的监控指标，采用 Prometheus 文本格式。设置 --metrics-listen 时仅在该地址提供，此处返回 404。',
  responses: {
    200: {
      description: 'The metrics.',
      headers: METRICS_HEADERS,
      content: { 'text/plain': { schema: { type: 'string' } } },
    },
    304: {
      description: 'Not modified: If-None-Match contains the current ETag.',
      headers: METRICS_HEADERS,
    },
    ...errorRefs(status => status === 404),
  },
})

/** The paths that belong to no action. A document of exports describes neither `/api` nor `/usage`. */
function servicePaths(actions: readonly ApiAction[], described: Described): Json {
  const isOfAnswers = described.chosen.export === undefined
  return {
    ...(isOfAnswers ? { '/api': { get: anyOperation(actions, described) } } : {}),
    ...Object.fromEntries(rpcMethods.map(method => [formatMethodTemplate(method), { get: rpcOperation(method) }])),
    ...Object.fromEntries(
      rpcUnavailable.map(name => [
        `/rpc/${name}`,
        {
          get: {
            operationId: name,
            tags: ['rpc'],
            summary: 'Temporarily unavailable.',
            'x-summary-zh': '暂不可用。',
            responses: errorRefs(),
          },
        },
      ]),
    ),
    ...(isOfAnswers ? { '/usage': { get: usageOperation(described) } } : {}),
    '/health': { get: healthOperation },
    '/ready': { get: readyOperation },
    '/status': { get: statusOperation },
    '/metrics': { get: metricsOperation },
  }
}

/**
 * The interface as an OpenAPI 3.1 document, generated from the action registry, and from the tables of codes and of
 * node methods. Each action has one operation, with its answer for the options for which the document is written.
 */
export function buildOpenapi(all: readonly ApiAction[], described: Described): Json {
  const form = mergeForm(described)
  const actions = describedActions(all, form)
  return {
    openapi: '3.1.0',
    info: {
      title: 'iostlens',
      version: described.version,
      description:
        'Read-only queries over the IOST chain and a read-only gateway to its node RPC. Reference pages: /docs/en, /docs/zh. The document is written for the options that it is requested with, for example /openapi.json?numbers=string; /openapi.json?format=ndjson and ?format=csv describe whole lists, ?format=sse describes feeds. The names in a path are written as they stand here: percent escapes in them are not decoded, and such a path is refused. A client for TypeScript and JavaScript: /client.ts, /client.js.',
    },
    // Relative to the document's own address, and therefore correct behind any path prefix.
    servers: [{ url: '.' }],
    security: [{ apikey: [] }, { apikeyHeader: [] }],
    tags: [
      ...[...new Set(actions.map(({ module }) => module))].map(name => ({
        name,
        description: `Actions of the module ${name}.`,
      })),
      { name: 'rpc', description: 'Read-only methods of the node.' },
      { name: 'service', description: 'The service itself, and the address that takes any action.' },
    ],
    paths: {
      ...Object.fromEntries(actions.map(action => [formatRoute(action), { get: actionOperation(action, described) }])),
      ...servicePaths(actions, described),
    },
    components: {
      securitySchemes: {
        apikey: { type: 'apiKey', in: 'query', name: 'apikey' },
        apikeyHeader: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
      schemas: {
        ...(form.export === undefined
          ? Object.fromEntries(actions.map(action => [schemaName(action), dataSchema(action, form)]))
          : exportSchemas(actions, form)),
        ...(form.export === undefined && form.compat === 'iostabc' ? { [NOTHING.name]: NOTHING.schema } : {}),
        Error: errorSchema(form),
      },
      headers: headerComponents,
      responses: errorResponses(actions, form),
    },
  }
}
