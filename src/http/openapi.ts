import type { Action } from '#actions/define.ts'
import { codes } from './codes.ts'
import { exampleUrl } from './example.ts'
import { apiParameters } from './openapi-parameters.ts'
import { examplePathOf, type RpcMethod, rpcMethods, rpcUnavailable, templateOf } from './rpc-methods.ts'

type Json = Readonly<Record<string, unknown>>

/** The interface as an OpenAPI 3.1 document, made from the action registry, the tables of codes and of node methods. */
export const openapiFor = (actions: readonly Action[], version: string): Json => ({
  openapi: '3.1.0',
  info: {
    title: 'iostlens',
    version,
    description:
      'Read-only queries over the IOST chain and a read-only gateway to its node RPC. Reference pages: /docs/en, /docs/zh.',
  },
  servers: [{ url: '/' }],
  security: [{ apikey: [] }, { apikeyHeader: [] }],
  paths: {
    '/api/': { get: apiOperation(actions) },
    ...Object.fromEntries(rpcMethods.map(method => [templateOf(method), { get: rpcOperation(method) }])),
    ...Object.fromEntries(rpcUnavailable.map(name => [`/rpc/${name}`, { get: switchedOff(name) }])),
    '/health': { get: openOperation('health', 'Whether the process is running.', 'The process is running.') },
    '/ready': {
      get: {
        ...openOperation('ready', 'Whether the service is ready to serve requests.', 'The service is ready.'),
        responses: readyResponses,
      },
    },
  },
  components: {
    securitySchemes: {
      apikey: { type: 'apiKey', in: 'query', name: 'apikey' },
      apikeyHeader: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    },
    schemas: {
      ...Object.fromEntries(actions.map(action => [schemaName(action), action.result])),
      Error: errorSchema,
    },
    responses: Object.fromEntries(errorStatuses().map(status => [`Error${status}`, errorResponse(status)])),
  },
})

/** `get-account-tx` → `GetAccountTx` */
export const schemaName = ({ action }: Action): string =>
  action.replace(/(?:^|-)([a-z])/g, (_all, letter: string) => letter.toUpperCase())

const apiOperation = (actions: readonly Action[]): Json => ({
  operationId: 'query',
  summary: 'All queries, selected by module and action.',
  parameters: apiParameters(actions),
  'x-actions': actions.map(action => ({
    module: action.module,
    action: action.action,
    summary: action.title.en,
    'x-summary-zh': action.title.zh,
    description: action.summary.en,
    'x-description-zh': action.summary.zh,
    result: { $ref: `#/components/schemas/${schemaName(action)}` },
    example: exampleUrl(action),
  })),
  responses: {
    200: success(actions),
    304: { description: 'Not modified: If-None-Match contains the current ETag.' },
    ...errorRefs(),
  },
})

const success = (actions: readonly Action[]): Json => ({
  description: 'The resource in data; with format=bare, only the resource.',
  headers: Object.fromEntries(
    [
      ['X-Block-Height', 'Block height the response is valid for.'],
      ['X-Block-Time', 'Time of that block, ISO-8601 UTC.'],
      ['ETag', 'Strong entity tag of the body; send it in If-None-Match.'],
      ['X-Request-Id', 'Identifies the request.'],
      ['RateLimit-Limit', 'Requests allowed in the current window.'],
      ['RateLimit-Remaining', 'Requests left in the current window.'],
      ['RateLimit-Reset', 'Seconds until the window is reset.'],
    ].map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  ),
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['code', 'message', 'data'],
        properties: {
          code: { const: 0 },
          message: { const: 'OK' },
          data: { anyOf: actions.map(action => ({ $ref: `#/components/schemas/${schemaName(action)}` })) },
        },
      },
    },
  },
})

const rpcOperation = (method: RpcMethod): Json => ({
  operationId: method.name,
  summary: method.title.en,
  'x-summary-zh': method.title.zh,
  description: `The response of the node, byte for byte. Example: ${examplePathOf(method)}`,
  parameters: method.segments.map(({ name, pattern, rule, example }) => ({
    name,
    in: 'path',
    required: true,
    description: `Format: ${rule.en}.`,
    schema: { type: 'string', pattern: pattern.source },
    example,
  })),
  responses: {
    200: { description: 'The response of the node.', content: { 'application/json': {} } },
    400: {
      description: 'An error of the node, passed on unchanged (text/plain), or an error of this service.',
      content: { 'text/plain': {}, ...errorContent },
    },
    ...errorRefs([400]),
  },
})

const switchedOff = (name: string): Json => ({
  operationId: name,
  summary: 'Temporarily unavailable.',
  responses: errorRefs(),
})

const openOperation = (operationId: string, summary: string, description: string): Json => ({
  operationId,
  summary,
  security: [],
  responses: { 200: { description, content: { 'application/json': {} } } },
})

const readyResponses: Json = {
  200: { description: 'The service is ready.', content: { 'application/json': {} } },
  503: {
    description: 'The service is not ready; the response gives the reason.',
    content: { 'application/json': {} },
  },
}

const errorSchema: Json = {
  type: 'object',
  required: ['code', 'message', 'request_id'],
  properties: {
    code: {
      enum: [...new Set(Object.values(codes).map(({ code }) => code))],
      description: [...new Set(Object.values(codes).map(({ code, title }) => `${code}: ${title.en}`))].join(
        '\n',
      ),
    },
    message: { type: 'string' },
    data: { type: 'object', description: 'Empty object; absent with format=bare.' },
    request_id: { type: 'string' },
  },
}

const errorContent: Json = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }

const errorStatuses = (): readonly number[] =>
  [...new Set(Object.values(codes).map(({ status }) => status))].sort()

const errorRefs = (without: readonly number[] = []): Json =>
  Object.fromEntries(
    errorStatuses()
      .filter(status => !without.includes(status))
      .map(status => [status, { $ref: `#/components/responses/Error${status}` }]),
  )

const errorResponse = (status: number): Json => ({
  description: [
    ...new Set(
      Object.values(codes)
        .filter(code => code.status === status)
        .map(({ title }) => title.en),
    ),
  ].join(' '),
  content: errorContent,
})
