import { HEAD_STATUSES } from '#head/head-state.ts'
import type { Json } from './described.ts'

const header = (description: string, schema: Json, sent: 'always' | 'sometimes'): Json => ({
  description,
  required: sent === 'always',
  schema,
})
const digits: Json = { type: 'string', pattern: '^[0-9]+$' }
const count: Json = { type: 'integer', minimum: 0 }

/**
 * Response headers for programs, by name. A limit is counted only for a known key, so its headers are missing
 * when the key was refused, or when there was no room to check it.
 */
const HEADERS = {
  'X-Block-Height': header('Block height the response is valid for.', digits, 'always'),
  'X-Block-Time': header('Time of that block, ISO-8601 UTC.', { type: 'string', format: 'date-time' }, 'always'),
  'X-Head-Height': header(
    'With head=1: the block height up to which rows of blocks are included that may still be replaced. Missing when these blocks are not known.',
    digits,
    'sometimes',
  ),
  'X-Head-Status': header(
    'With head=1: followed when the blocks above the last irreversible one are known; otherwise why only irreversible rows are in the response: none (no node is followed), away (no node responds), behind (the node or this service is behind), apart (the branch of the node does not lead to the block of X-Block-Height at this moment), unproved (the blocks of the node cannot be proved).',
    { type: 'string', enum: HEAD_STATUSES },
    'sometimes',
  ),
  ETag: header('Strong entity tag of the body; send it in If-None-Match.', { type: 'string' }, 'always'),
  Link: header(
    'On a page of a list (RFC 8288): first, prev, next and last page of the same request, relative to its address, without the key.',
    { type: 'string' },
    'sometimes',
  ),
  'X-Total-Count': header('Number of rows of the whole list.', count, 'always'),
  'Content-Disposition': header('Proposes a file name with the action and the height.', { type: 'string' }, 'always'),
  'X-Request-Id': header('Identifies the request.', { type: 'string', pattern: '^[0-9a-f]{16}$' }, 'always'),
  'Cache-Control': header('How long the response may be cached.', { type: 'string' }, 'always'),
  'Content-Language': header('Language of the message.', { type: 'string', enum: ['en', 'zh', 'zh-CN'] }, 'always'),
  'Retry-After': header('Seconds after which the same request may succeed.', count, 'always'),
  Allow: header('The methods that are supported.', { type: 'string' }, 'always'),
  'RateLimit-Limit': header('Requests allowed in the current window.', count, 'sometimes'),
  'RateLimit-Remaining': header('Requests left in the current window.', count, 'sometimes'),
  'RateLimit-Reset': header('Seconds until the window is reset.', count, 'sometimes'),
} satisfies Record<string, Json>

export type HeaderName = keyof typeof HEADERS

export const RATE_HEADERS = [
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
] as const satisfies readonly HeaderName[]

/** The value of `components.headers`. */
export const headerComponents: Json = HEADERS

/** The `headers` of a response. */
export const headersNamed = (names: readonly HeaderName[]): Json =>
  Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }]))
