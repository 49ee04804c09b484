import type { TSchema } from '@sinclair/typebox'
import { EXACT, findDescription } from '#actions/shape/results.ts'
import type { Text } from '#actions/text.ts'

/** A field of an answer in the reference. */
export type FieldRow = {
  /** A path such as `transactions[].tx_hash`. `{}` is any key of an object that is a map. */
  readonly path: string
  readonly type: string
  readonly optional: boolean
  /** Whether `numbers=string` makes the field a string. */
  readonly exact: boolean
  readonly description: Text | undefined
}

/** The fields of an answer, including those of nested objects and lists, in the order of the schema. */
export function listFieldRows(schema: TSchema, prefix = ''): readonly FieldRow[] {
  const objects = listVariants(schema).filter(({ properties }: Inside) => properties !== undefined)
  return objects.flatMap(object => fieldsOfObject(object, prefix))
}

const fieldsOfObject = ({ properties = {}, required = [] }: Inside, prefix: string): readonly FieldRow[] =>
  Object.entries(properties).flatMap(([name, field]) => {
    const path = `${prefix}${name}`
    return [
      {
        path,
        type: formatType(field),
        optional: !required.includes(name),
        exact: isExact(field),
        description: findDescription(field),
      },
      ...listNestedRows(field, path),
    ]
  })

/** The keywords of JSON Schema that the field words of `results.ts` use. */
type Inside = TSchema & {
  readonly type?: string
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly required?: readonly string[]
  readonly items?: TSchema
  readonly patternProperties?: Readonly<Record<string, TSchema>>
  readonly anyOf?: readonly TSchema[]
}

function listNestedRows(field: TSchema, path: string): readonly FieldRow[] {
  const { items, patternProperties = {} }: Inside = field
  if (items !== undefined) return listFieldRows(items, `${path}[].`)
  const [entry] = Object.values(patternProperties)
  return entry === undefined ? listFieldRows(field, `${path}.`) : listFieldRows(entry, `${path}.{}.`)
}

function listVariants(schema: TSchema): readonly TSchema[] {
  const { anyOf = [schema] }: Inside = schema
  return anyOf
}

const isExact = (schema: TSchema): boolean => listVariants(schema).some(variant => variant[EXACT] === true)

const formatType = (schema: TSchema): string =>
  [...new Set(listVariants(schema).map(({ type = 'any' }: Inside) => type))].join(' | ')
