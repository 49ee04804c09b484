import type { TSchema } from '@sinclair/typebox'
import { type ApiAction, formatActionName } from '#actions/define.ts'
import { FEED_FORMAT } from '#actions/request/options.ts'
import { type Columns, EXACT, findColumns, HEAD_ONLY, pickOtherFields, SEARCHED_ONLY } from '#actions/shape/results.ts'
import type { Form, Json } from './described.ts'

/** `get-account-tx` → `GetAccountTx` */
export const schemaName = (action: Pick<ApiAction, 'name' | 'action'>): string =>
  formatActionName(action).replace(/(?:^|-)([a-z])/g, (_all, letter: string) => letter.toUpperCase())

/** The JSON schema of an action's `data`, for the options for which the document is written. */
export const dataSchema = (action: ApiAction, form: Form): Json =>
  toPlainSchema(getResultSchema(action, form), form.numbers)

const getResultSchema = ({ result, compatResult }: ApiAction, { compat }: Form): TSchema =>
  compat === 'iostabc' ? (compatResult ?? result) : result

/** The component name of a list's row. */
export const rowName = (action: Pick<ApiAction, 'name' | 'action'>): string => `${schemaName(action)}Row`

/** The JSON schema of a row of a list. For an action without a list, it allows anything. */
export function rowSchema(action: ApiAction, form: Form): Json {
  const { properties } = dataSchema(action, form) as { readonly properties?: Readonly<Record<string, Json>> }
  const row = (properties?.[action.list ?? '']?.['items'] ?? {}) as Json
  const isWhole = form.export !== undefined && form.export !== FEED_FORMAT
  if (!isWhole) return row
  const columns = findColumns(getResultSchema(action, form), action.list ?? '')
  const { anyOf } = row as { readonly anyOf?: readonly Json[] }
  if (anyOf === undefined) return irreversible(row, columns)
  return { ...row, anyOf: anyOf.map((each, at) => (at === 0 ? irreversible(each, columns) : each)) }
}

/** The schemas of a list's fields other than its rows. */
export function listOtherSchemas(action: ApiAction, form: Form): Json {
  const { properties = {} } = dataSchema(action, form) as { readonly properties?: Json }
  return pickOtherFields(properties, action.list)
}

/**
 * A row of a whole list. It has no field that requires `head=1`. It always has its number if the list has
 * numbers and is never searched.
 */
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

/**
 * A reference to the component of an answer's data, or also to `Nothing` where iostabc answers with an empty object.
 */
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
