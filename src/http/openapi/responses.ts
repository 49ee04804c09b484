import type { ApiAction } from '#actions/define.ts'
import type { FEED_FORMAT, Options } from '#actions/request/options.ts'
import { HEAD_STATUSES } from '#head/head-state.ts'
import { type Code, codes, listCodes } from '../codes.ts'

export type Json = Readonly<Record<string, unknown>>

/** Options that change the form of answers, export a list, or open a feed. A document describes one such choice. */
export type Form = Pick<Options, 'format' | 'compat' | 'numbers'> & {
  readonly export?: NonNullable<Options['export']> | typeof FEED_FORMAT
}
export const FORM_NAMES = ['format', 'compat', 'numbers'] as const satisfies readonly (keyof Form)[]

/** The choices for which a document is written. */
export type Described = {
  readonly version: string
  /** The form of answers to a request without form options. */
  readonly defaults: Form
  /** The choices of the document's reader: constant, required parameters of every operation. */
  readonly chosen: Partial<Form>
  /** Calls with an answer on the served chain; an action without one has no examples. Absent: the actions' own. */
  readonly examples?: ReadonlyMap<ApiAction, { readonly params: Readonly<Record<string, string>> }>
}

/** Names and values of the parameters that a reader of the document sends. */
export const chosenParameters = ({
  export: exported,
  ...chosen
}: Partial<Form>): Partial<Record<(typeof FORM_NAMES)[number], string>> =>
  exported === undefined ? chosen : { ...chosen, format: exported }

export const mergeForm = ({ defaults, chosen }: Described): Form => ({ ...defaults, ...chosen })

function header(description: string, schema: Json, sent: 'always' | 'sometimes'): Json {
  return { description, required: sent === 'always', schema }
}
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

const QUERY_HEADERS = headersNamed([
  'X-Block-Height',
  'X-Block-Time',
  'X-Head-Height',
  'X-Head-Status',
  'ETag',
  'Link',
  'X-Request-Id',
  'Cache-Control',
  ...RATE_HEADERS,
])

/** The answer to a successful query: `data` in its envelope, or alone. */
export const buildSuccess = (data: Json, { format }: Form): Json => ({
  description: format === 'bare' ? 'The resource.' : 'The resource in data.',
  headers: QUERY_HEADERS,
  content: {
    'application/json': {
      schema:
        format === 'bare'
          ? data
          : closedObject({ code: { type: 'integer', const: 0 }, message: { type: 'string', const: 'OK' }, data }),
    },
  },
})

export const NOT_MODIFIED: Json = {
  description: 'Not modified: If-None-Match contains the current ETag.',
  headers: QUERY_HEADERS,
}

/** An object schema with these fields and no others. `required` undefined: all fields are required. */
export const closedObject = (properties: Json, required = Object.keys(properties)): Json => ({
  type: 'object',
  required,
  properties,
  additionalProperties: false,
})

/** The body of every failure. */
export const errorSchema = ({ format }: Form): Json =>
  closedObject({
    code: {
      type: 'integer',
      enum: [...new Set(Object.values(codes).map(({ code }) => code))],
      description: [...new Set(Object.values(codes).map(({ code, title }) => `${code}: ${title.en}`))].join('\n'),
    },
    message: { type: 'string', description: 'Description of the error, in the language of the request.' },
    ...(format === 'bare'
      ? {}
      : { data: { type: 'object', additionalProperties: false, description: 'Always empty.' } }),
    request_id: { type: 'string', description: 'Identifies the request in the log.' },
  })

export const errorContent: Json = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }

const ALL: readonly Code[] = [...new Map(Object.values(codes).map(code => [code.code, code])).values()].toSorted(
  (a, b) => a.code - b.code,
)

/** References to the failures of an operation by status: all of them, or those that `isOne` selects. */
export const errorRefs = (isOne: (status: number) => boolean = () => true): Json =>
  buildResponseRefs(ALL.filter(({ status }) => isOne(status)))

/** References to the failures of an action by status. */
export const actionErrorRefs = (action: ApiAction, form: Form): Json => buildResponseRefs(listCodes(action, form))

const buildResponseRefs = (all: readonly Code[]): Json =>
  Object.fromEntries(
    groupCodes(all).map(([status, own]) => [status, { $ref: `#/components/responses/${responseName(status, own)}` }]),
  )

const groupCodes = (all: readonly Code[]): readonly (readonly [status: number, codes: readonly Code[]])[] =>
  [...Map.groupBy(all, ({ status }) => status)].toSorted(([a], [b]) => a - b)

/** The name of a response: `Error503` for all codes of a status, `Error5030_5033` for some of them. */
const responseName = (status: number, own: readonly Code[]): string =>
  own.length === ALL.filter(each => each.status === status).length
    ? `Error${status}`
    : `Error${own.map(({ code }) => code).join('_')}`

/** The value of `components.responses`: all failures to which operations of these actions and of the service refer. */
export const errorResponses = (actions: readonly ApiAction[], form: Form): Json =>
  Object.fromEntries(
    [ALL, ...actions.map(action => listCodes(action, form))].flatMap(all =>
      groupCodes(all).map(([status, own]) => [responseName(status, own), errorResponse(status, own)]),
    ),
  )

const errorResponse = (status: number, own: readonly Code[]): Json => ({
  description: own.map(({ code, title }) => `${code}: ${title.en}`).join(' '),
  'x-codes': own.map(({ code }) => code),
  headers: headersNamed([
    'X-Request-Id',
    'Cache-Control',
    'Content-Language',
    ...(own.every(({ retryAfter }) => retryAfter !== undefined) ? (['Retry-After'] as const) : []),
    ...(status === codes.method_not_allowed.status ? (['Allow'] as const) : RATE_HEADERS),
  ] satisfies readonly HeaderName[]),
  content: errorContent,
})
