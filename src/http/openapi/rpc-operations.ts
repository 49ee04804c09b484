import { formatExamplePath, type RpcMethod } from '../rpc-methods.ts'
import type { Json } from './described.ts'
import { headersNamed, RATE_HEADERS } from './headers.ts'
import { errorContent, errorRefs } from './responses.ts'

const HEADERS = headersNamed(['X-Request-Id', 'Cache-Control', ...RATE_HEADERS])

/** A node method that the gateway allows. The node defines the answer. */
export const rpcOperation = (method: RpcMethod): Json => ({
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

/** A node method that the gateway refuses with 503. */
export const switchedOff = (name: string): Json => ({
  operationId: name,
  tags: ['rpc'],
  summary: 'Temporarily unavailable.',
  'x-summary-zh': '暂不可用。',
  responses: errorRefs(),
})
