import type { TSchema } from '@sinclair/typebox'
import { type ApiAction, formatActionName } from '#actions/define.ts'
import { listParametersRefusedByFeeds } from '#actions/feed/feed.ts'
import { ID_PATTERN, LAST_ROW_PATTERN } from '#actions/feed/message.ts'
import { FEED_FORMAT, OPTION_TEXTS, OPTION_VALUES, type Options } from '#actions/request/options.ts'
import { listParameters, MAX_DIGITS, type Parameter } from '#actions/request/query.ts'
import { type Columns, EXACT, findColumns, HEAD_ONLY, pickOtherFields, SEARCHED_ONLY } from '#actions/shape/results.ts'
import { HEAD_STATUSES } from '#head/head-state.ts'
import { allCodes, type Code, codes, listCodes } from '../codes.ts'

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
export const describeHeaders = (names: readonly HeaderName[]): Json =>
  Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }]))

const QUERY_HEADERS = describeHeaders([
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

/** References to the failures of an operation by status: all of them, or those that `isOne` selects. */
export const errorRefs = (isOne: (status: number) => boolean = () => true): Json =>
  buildResponseRefs(allCodes.filter(({ status }) => isOne(status)))

/** References to the failures of an action by status. */
const actionErrorRefs = (action: ApiAction, form: Form): Json => buildResponseRefs(listCodes(action, form))

const buildResponseRefs = (all: readonly Code[]): Json =>
  Object.fromEntries(
    groupCodes(all).map(([status, own]) => [status, { $ref: `#/components/responses/${responseName(status, own)}` }]),
  )

const groupCodes = (all: readonly Code[]): readonly (readonly [status: number, codes: readonly Code[]])[] =>
  [...Map.groupBy(all, ({ status }) => status)].toSorted(([a], [b]) => a - b)

/** The name of a response: `Error503` for all codes of a status, `Error5030_5033` for some of them. */
const responseName = (status: number, own: readonly Code[]): string =>
  own.length === allCodes.filter(each => each.status === status).length
    ? `Error${status}`
    : `Error${own.map(({ code }) => code).join('_')}`

/** The value of `components.responses`: all failures to which operations of these actions and of the service refer. */
export const errorResponses = (actions: readonly ApiAction[], form: Form): Json =>
  Object.fromEntries(
    [allCodes, ...actions.map(action => listCodes(action, form))].flatMap(all =>
      groupCodes(all).map(([status, own]) => [responseName(status, own), errorResponse(status, own)]),
    ),
  )

const errorResponse = (status: number, own: readonly Code[]): Json => ({
  description: own.map(({ code, title }) => `${code}: ${title.en}`).join(' '),
  'x-codes': own.map(({ code }) => code),
  headers: describeHeaders([
    'X-Request-Id',
    'Cache-Control',
    'Content-Language',
    ...(own.every(({ retryAfter }) => retryAfter !== undefined) ? (['Retry-After'] as const) : []),
    ...(status === codes.method_not_allowed.status ? (['Allow'] as const) : RATE_HEADERS),
  ] satisfies readonly HeaderName[]),
  content: errorContent,
})

export const formatRoute = ({ module, action }: ApiAction): string => `/api/${module}/${action}`

/** `get-account-tx` → `getAccountTx` */
export function operationId(action: ApiAction): string {
  const name = schemaName(action)
  return name.charAt(0).toLowerCase() + name.slice(1)
}

/** An action on its own route, with the types and defaults of its parameters, and its answer. */
export function actionOperation(action: ApiAction, described: Described): Json {
  const form = mergeForm(described)
  const { examples } = described
  const example = examples === undefined ? action.example : (examples.get(action)?.params ?? {})
  const own = { $ref: `#/components/schemas/${schemaName(action)}` }
  // iostabc answers for an unknown thing with an empty object; a list is empty in that case.
  const mayBeNothing = form.compat === 'iostabc' && action.list === undefined
  const data = mayBeNothing ? { anyOf: [own, { $ref: `#/components/schemas/${NOTHING.name}` }] } : own
  return {
    operationId: operationId(action),
    tags: [action.module],
    summary: action.title.en,
    'x-summary-zh': action.title.zh,
    description: action.summary.en,
    'x-description-zh': action.summary.zh,
    parameters: [
      ...listParameters(action.params)
        .filter(({ name }) => !listOmittedParameters(form, action).includes(name))
        .map(parameter => describeOwnParameter(parameter, new Map(Object.entries(example)))),
      ...formParameters(described),
      ...(form.export === FEED_FORMAT ? [LAST_EVENT_ID, LAST_EVENT_ID_IN_QUERY] : []),
      language,
    ],
    responses:
      form.export === undefined
        ? { 200: buildSuccess(data, form), 304: NOT_MODIFIED, ...actionErrorRefs(action, form) }
        : { 200: buildExportAnswer(action, form.export), ...actionErrorRefs(action, form) },
  }
}

/**
 * The parameters that a form has not. A whole list has no pages and only irreversible rows. A feed has no
 * pages, no end, one order and no steps. Only CSV has columns to choose.
 */
function listOmittedParameters({ export: exported }: Form, action: ApiAction): readonly string[] {
  if (exported === undefined) return ['csv']
  if (exported === FEED_FORMAT) return listParametersRefusedByFeeds(action)
  return ['page', 'size', 'head', ...(exported === 'csv' ? [] : ['csv'])]
}

const LAST_EVENT_ID: Json = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'The id of the last event received: the feed continues after it, and start_seq is ignored.',
  'x-description-zh': '已收到的最后一个事件的 id：事件流从其后继续，并优先于 start_seq。',
  schema: { type: 'string', pattern: `${ID_PATTERN}|${LAST_ROW_PATTERN}` },
}

const LAST_EVENT_ID_IN_QUERY: Json = {
  ...LAST_EVENT_ID,
  name: 'lastEventId',
  in: 'query',
  description: 'The same as the header Last-Event-ID, for clients that cannot send it; the header takes precedence.',
  'x-description-zh': '与请求头 Last-Event-ID 相同，供无法发送该请求头的客户端使用；请求头优先。',
}

function describeOwnParameter({ name, required, spec }: Parameter, examples: ReadonlyMap<string, string>): Json {
  const { type, pattern, values, minimum, maximum, fallback, description, rule } = spec
  const example = examples.get(name)
  return {
    name,
    in: 'query',
    required,
    description: `${description.en} Format: ${rule.en}.`,
    'x-description-zh': `${description.zh}格式：${rule.zh}。`,
    schema: {
      type,
      ...(type === 'string' && values === undefined ? { pattern } : {}),
      ...(values === undefined ? {} : { enum: values }),
      ...(minimum === undefined ? {} : { minimum }),
      ...(maximum === undefined ? {} : { maximum }),
      // 10^19 is exactly representable as a double; 10^19 − 1 is not.
      ...(type === 'integer' && maximum === undefined ? { exclusiveMaximum: 10 ** MAX_DIGITS } : {}),
      ...(fallback === undefined ? {} : { default: typeof fallback === 'bigint' ? Number(fallback) : fallback }),
    },
    ...(example === undefined ? {} : { example: type === 'integer' ? Number(example) : example }),
  }
}

/** The form options for which the document is written. Each has one value, and must be sent. */
export const formParameters = ({ chosen }: Described): readonly Json[] =>
  FORM_NAMES.flatMap(name => {
    const value = chosenParameters(chosen)[name]
    if (value === undefined) return []
    return [
      {
        name,
        in: 'query',
        required: true,
        description: OPTION_TEXTS[name].en,
        'x-description-zh': OPTION_TEXTS[name].zh,
        schema: { type: 'string', enum: [value] },
        example: value,
      },
    ]
  })

/** The option that only changes messages. */
export const language: Json = {
  name: 'lang',
  in: 'query',
  required: false,
  description: OPTION_TEXTS.lang.en,
  'x-description-zh': OPTION_TEXTS.lang.zh,
  schema: { type: 'string', enum: OPTION_VALUES.lang },
}

/** `get-account-tx` → `GetAccountTx` */
export const schemaName = (action: Pick<ApiAction, 'name' | 'action'>): string =>
  formatActionName(action).replace(/(?:^|-)([a-z])/g, (_all, letter: string) => letter.toUpperCase())

/** The JSON schema of an action's `data`, for the options for which the document is written. */
export const dataSchema = (action: ApiAction, form: Form): Json =>
  toPlainSchema(getResultSchema(action, form), form.numbers)

const getResultSchema = ({ result, compatResult }: ApiAction, { compat }: Form): TSchema =>
  compat === 'iostabc' ? (compatResult ?? result) : result

export const rowName = (action: Pick<ApiAction, 'name' | 'action'>): string => `${schemaName(action)}Row`

/** The JSON schema of a row of a list. For an action without a list, it allows anything. */
function rowSchema(action: ApiAction, form: Form): Json {
  const { properties } = dataSchema(action, form) as { readonly properties?: Readonly<Record<string, Json>> }
  const row = (properties?.[action.list ?? '']?.['items'] ?? {}) as Json
  const isWhole = form.export !== undefined && form.export !== FEED_FORMAT
  if (!isWhole) return row
  const columns = findColumns(getResultSchema(action, form), action.list ?? '')
  const { anyOf } = row as { readonly anyOf?: readonly Json[] }
  if (anyOf === undefined) return toWholeListRow(row, columns)
  return { ...row, anyOf: anyOf.map((each, at) => (at === 0 ? toWholeListRow(each, columns) : each)) }
}

/** A row of a whole list has no field that requires `head=1`, and its number if the list has numbers and no search. */
function toWholeListRow(row: Json, columns: Columns | undefined): Json {
  if (columns === undefined) return row
  const { properties, required } = row as { readonly properties: Json; readonly required: readonly string[] }
  const { usual, searched } = columns
  return {
    ...row,
    required: usual.filter(name => required.includes(name) || (name === 'seq' && searched.length === 0)),
    properties: Object.fromEntries([...searched, ...usual].map(name => [name, properties[name]])),
  }
}

/** The component for the `data` of an unknown thing. */
export const NOTHING = {
  name: 'Nothing',
  schema: { type: 'object', properties: {}, additionalProperties: false },
}

/** The digits of an amount, a rate or a time that is written as text. */
const DIGITS = '^-?[0-9]+(?:\\.[0-9]+)?$'

/** The schema without the reference's own keywords. With `numbers=string`, exact numbers are strings. */
function toPlainSchema(schema: TSchema, numbers: Form['numbers']): Json {
  const plain = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(plain)
    if (typeof value !== 'object' || value === null) return value
    const { [EXACT]: isExact, [HEAD_ONLY]: _head, [SEARCHED_ONLY]: _searched, ...rest } = value as Json
    const made = Object.fromEntries(Object.entries(rest).map(([name, inner]) => [name, plain(inner)]))
    return isExact === true && numbers === 'string' ? { ...made, type: 'string', pattern: DIGITS } : made
  }
  return plain(JSON.parse(JSON.stringify(schema))) as Json
}

/** Only those with a list in a document of whole lists, and only those with a feed in one of feeds. */
export const describedActions = (actions: readonly ApiAction[], form: Form): readonly ApiAction[] =>
  form.export === undefined
    ? actions
    : actions.filter(({ list, source }) => (form.export === FEED_FORMAT ? source?.isFeed === true : list !== undefined))

const LIST_HEADERS = describeHeaders([
  'X-Block-Height',
  'X-Block-Time',
  'X-Total-Count',
  'Content-Disposition',
  'X-Request-Id',
  'Cache-Control',
  ...RATE_HEADERS,
])

const FEED_HEADERS = describeHeaders([
  'X-Block-Height',
  'X-Block-Time',
  'X-Head-Height',
  'X-Head-Status',
  'X-Request-Id',
  'Cache-Control',
  ...RATE_HEADERS,
])

/** The answer with a whole list. It is not one JSON text, so the schemas of its lines are separate components. */
function buildExportAnswer(action: ApiAction, format: NonNullable<Form['export']>): Json {
  const types = { ndjson: 'application/x-ndjson', csv: 'text/csv', sse: 'text/event-stream' } as const
  const row = `#/components/schemas/${rowName(action)}`
  const description = {
    ndjson: `All rows, of one height: each line is a JSON text as ${row} describes it, the last line is as #/components/schemas/${COMPLETE}. An answer without that line is incomplete.`,
    csv: `All rows, of one height, as RFC 4180: a line with the names of the fields of ${row}, then a line for each row. Arrays and objects are JSON text. The last column, complete_rows, is empty but in the last line, where it is the number of these lines; a file without that number is incomplete. X-Total-Count is the number of rows. With the parameter csv, where an action has it, the lines have the columns that it names, rows that changed nothing have no line, and X-Total-Count is not sent.`,
    sse: `Events: the rows from start_seq or Last-Event-ID on, then each new row when its block is irreversible. The first event is named begin: its data has the block_height, and its id is the one to continue with before any row came; it is left out without such an id, in a feed that starts at a number without a row yet, or, when searched, at a block or time. The data of a row is a JSON text as ${row} describes it. Its id is the seq, behind which a mark of the chain may follow (501@…), or names the row itself in a list that is searched; send it back as it came. With head=1 also events named packed, with a row of a block that may still be replaced, and dropped, whose from_block says from which block on such rows are gone (a feed that is continued begins with it and sends those still valid again); an irreversible row has the id field of the packed row that it confirms. An event named cut, reset or end is the last one and says in its data why and where to go on (seq).`,
  }
  return {
    description: description[format],
    headers: format === FEED_FORMAT ? FEED_HEADERS : LIST_HEADERS,
    content: { [types[format]]: { schema: { type: 'string' } } },
  }
}

const COMPLETE = 'Complete'

/** The schemas of lines. */
export function exportSchemas(actions: readonly ApiAction[], form: Form): Json {
  const rows = Object.fromEntries(actions.map(action => [rowName(action), rowSchema(action, form)]))
  if (form.export === FEED_FORMAT) return rows
  const besideRows = actions.map(action => {
    const { properties = {} } = dataSchema(action, form) as { readonly properties?: Json }
    return pickOtherFields(properties, action.list)
  })
  const complete = {
    complete: { type: 'boolean', const: true },
    rows: { type: 'integer', minimum: 0, description: 'Number of rows before this line.' },
    block_height: { type: 'string', pattern: '^[0-9]+$', description: 'Block height of the answer.' },
  }
  return {
    ...rows,
    [COMPLETE]: {
      description: 'The last line of a whole list in NDJSON, with what its answer has beside the rows.',
      ...closedObject({ ...Object.assign({}, ...besideRows), ...complete }, Object.keys(complete)),
    },
  }
}
