type Json = Readonly<Record<string, unknown>>

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const PRIMITIVES: ReadonlyMap<unknown, string> = new Map([
  ['string', 'string'],
  ['number', 'number'],
  ['integer', 'number'],
  ['boolean', 'boolean'],
  ['null', 'null'],
])

/** The TypeScript type of a JSON Schema of this service. */
export function typeText(schema: unknown, indent = ''): string {
  if (!isJson(schema)) return 'unknown'
  const { anyOf, enum: values, const: value, type, items } = schema
  if (value !== undefined) return JSON.stringify(value)
  if (Array.isArray(values)) return values.map(each => JSON.stringify(each)).join(' | ')
  if (Array.isArray(anyOf)) return [...new Set(anyOf.map(each => typeText(each, indent)))].join(' | ')
  if (type === 'array') return `${isUnion(items) ? `(${typeText(items, indent)})` : typeText(items, indent)}[]`
  if (type === 'object') return objectText(schema, indent)
  return PRIMITIVES.get(type) ?? 'unknown'
}

const isUnion = (schema: unknown): boolean => isJson(schema) && ('anyOf' in schema || 'enum' in schema)

function objectText({ properties, patternProperties, additionalProperties, required }: Json, indent: string): string {
  const known = isJson(properties) ? Object.entries(properties) : []
  const others = isJson(patternProperties) ? Object.values(patternProperties) : [additionalProperties]
  const [other] = others
  if (known.length === 0)
    return other === false ? 'Record<string, never>' : `{ readonly [name: string]: ${typeText(other, indent)} }`
  const needed = Array.isArray(required) ? required : []
  const inner = `${indent}  `
  const fields = known.map(([name, schema]) => {
    const mark = needed.includes(name) ? '' : '?'
    return `${commentText(schema, inner)}${inner}readonly ${keyText(name)}${mark}: ${typeText(schema, inner)}\n`
  })
  return `{\n${fields.join('')}${indent}}`
}

const keyText = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name))

/** The description of a schema as a comment before its declaration. */
export function commentText(schema: unknown, indent: string): string {
  if (!isJson(schema) || typeof schema['description'] !== 'string') return ''
  return `${indent}/** ${schema['description'].replaceAll('*/', '* /')} */\n`
}
