import type { ApiAction } from '#actions/define.ts'
import { type Code, codes, listCodes } from '../codes.ts'
import type { Form, Json } from './described.ts'
import { type HeaderName, headersNamed, RATE_HEADERS } from './headers.ts'

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
          : closedObject({
              code: { type: 'integer', const: 0 },
              message: { type: 'string', const: 'OK' },
              data,
            }),
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
    byStatus(all).map(([status, own]) => [status, { $ref: `#/components/responses/${responseName(status, own)}` }]),
  )

const byStatus = (all: readonly Code[]): readonly (readonly [status: number, codes: readonly Code[]])[] =>
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
      byStatus(all).map(([status, own]) => [responseName(status, own), errorResponse(status, own)]),
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
