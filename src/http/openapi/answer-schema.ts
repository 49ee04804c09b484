import type { TSchema } from '@sinclair/typebox'
import { type ApiAction, formatActionName } from '#actions/define.ts'
import { FEED_FORMAT } from '#actions/request/options.ts'
import { type Columns, EXACT, findColumns, HEAD_ONLY, pickOtherFields, SEARCHED_ONLY } from '#actions/shape/results.ts'
import { closedObject, type Form, headersNamed, type Json, RATE_HEADERS } from './responses.ts'

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
  if (anyOf === undefined) return irreversible(row, columns)
  return { ...row, anyOf: anyOf.map((each, at) => (at === 0 ? irreversible(each, columns) : each)) }
}

function listOtherSchemas(action: ApiAction, form: Form): Json {
  const { properties = {} } = dataSchema(action, form) as { readonly properties?: Json }
  return pickOtherFields(properties, action.list)
}

/** A row of a whole list has no field that requires `head=1`, and its number if the list has numbers and no search. */
function irreversible(row: Json, columns: Columns | undefined): Json {
  if (columns === undefined) return row
  const { properties, required } = row as { readonly properties: Json; readonly required: readonly string[] }
  const { usual, searched } = columns
  return {
    ...row,
    required: usual.filter(name => required.includes(name) || (name === 'seq' && searched.length === 0)),
    properties: Object.fromEntries([...searched, ...usual].map(name => [name, properties[name]])),
  }
}

/** The component for the `data` of an unknown thing: iostabc answers with an empty object. */
export const NOTHING = {
  name: 'Nothing',
  schema: { type: 'object', properties: {}, additionalProperties: false },
}

/** A reference to the component of an answer's data; iostabc may answer with `Nothing`, an empty object. */
export function dataRef(action: ApiAction, { compat }: Form): Json {
  const own = buildRef(schemaName(action))
  // A list is empty in that case.
  return compat === 'iostabc' && action.list === undefined ? { anyOf: [own, buildRef(NOTHING.name)] } : own
}

const buildRef = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })

/** The digits of an amount, a rate or a time that is written as text. */
const DIGITS = '^-?[0-9]+(?:\\.[0-9]+)?$'

const MARKS = new Set([EXACT, HEAD_ONLY, SEARCHED_ONLY])

/** The schema without the reference's own keywords. With `numbers=string`, exact numbers are strings. */
function toPlainSchema(schema: TSchema, numbers: Form['numbers']): Json {
  const plain = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(plain)
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).filter(([name]) => !MARKS.has(name))
    const made = Object.fromEntries(entries.map(([name, inner]) => [name, plain(inner)]))
    const isExact = (value as Json)[EXACT] === true
    return isExact && numbers === 'string' ? { ...made, type: 'string', pattern: DIGITS } : made
  }
  return plain(JSON.parse(JSON.stringify(schema))) as Json
}

/** Only those with a list in a document of whole lists, and only those with a feed in one of feeds. */
export const describedActions = (actions: readonly ApiAction[], form: Form): readonly ApiAction[] =>
  form.export === undefined
    ? actions
    : actions.filter(({ list, source }) => (form.export === FEED_FORMAT ? source?.isFeed === true : list !== undefined))

const HEADERS = headersNamed([
  'X-Block-Height',
  'X-Block-Time',
  'X-Total-Count',
  'Content-Disposition',
  'X-Request-Id',
  'Cache-Control',
  ...RATE_HEADERS,
])

const FEED_HEADERS = headersNamed([
  'X-Block-Height',
  'X-Block-Time',
  'X-Head-Height',
  'X-Head-Status',
  'X-Request-Id',
  'Cache-Control',
  ...RATE_HEADERS,
])

/** The answer with a whole list. It is not one JSON text, so the schemas of its lines are separate components. */
export function buildExportAnswer(action: ApiAction, format: NonNullable<Form['export']>): Json {
  const types = { ndjson: 'application/x-ndjson', csv: 'text/csv', sse: 'text/event-stream' } as const
  const row = `#/components/schemas/${rowName(action)}`
  const description = {
    ndjson: `All rows, of one height: each line is a JSON text as ${row} describes it, the last line is as #/components/schemas/${COMPLETE}. An answer without that line is incomplete.`,
    csv: `All rows, of one height, as RFC 4180: a line with the names of the fields of ${row}, then a line for each row. Arrays and objects are JSON text. The last column, complete_rows, is empty but in the last line, where it is the number of these lines; a file without that number is incomplete. X-Total-Count is the number of rows. With the parameter csv, where an action has it, the lines have the columns that it names, rows that changed nothing have no line, and X-Total-Count is not sent.`,
    sse: `Events: the rows from start_seq or Last-Event-ID on, then each new row when its block is irreversible. The first event is named begin: its data has the block_height, and its id is the one to continue with before any row came; it is left out without such an id, in a feed that starts at a number without a row yet, or, when searched, at a block or time. The data of a row is a JSON text as ${row} describes it. Its id is the seq, behind which a mark of the chain may follow (501@…), or names the row itself in a list that is searched; send it back as it came. With head=1 also events named packed, with a row of a block that may still be replaced, and dropped, whose from_block says from which block on such rows are gone (a feed that is continued begins with it and sends those still valid again); an irreversible row has the id field of the packed row that it confirms. An event named cut, reset or end is the last one and says in its data why and where to go on (seq).`,
  }
  return {
    description: description[format],
    headers: format === FEED_FORMAT ? FEED_HEADERS : HEADERS,
    content: { [types[format]]: { schema: { type: 'string' } } },
  }
}

const COMPLETE = 'Complete'

/** The schemas of lines. */
export const exportSchemas = (actions: readonly ApiAction[], form: Form): Json => ({
  ...Object.fromEntries(actions.map(action => [rowName(action), rowSchema(action, form)])),
  ...(form.export === FEED_FORMAT ? {} : { [COMPLETE]: buildCompleteSchema(actions, form) }),
})

const complete: Json = {
  complete: { type: 'boolean', const: true },
  rows: { type: 'integer', minimum: 0, description: 'Number of rows before this line.' },
  block_height: { type: 'string', pattern: '^[0-9]+$', description: 'Block height of the answer.' },
}

function buildCompleteSchema(actions: readonly ApiAction[], form: Form): Json {
  const beside = Object.assign({}, ...actions.map(action => listOtherSchemas(action, form)))
  return {
    description: 'The last line of a whole list in NDJSON, with what its answer has beside the rows.',
    ...closedObject({ ...beside, ...complete }, Object.keys(complete)),
  }
}
