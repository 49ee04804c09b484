import type { ApiAction } from '#actions/define.ts'
import { listParameters, type Parameter } from '#actions/request/query.ts'
import { dataSchema, operationId, schemaName } from '../openapi/action-operation.ts'
import * as follow from './follow.ts' with { type: 'text' }
import * as lines from './lines.ts' with { type: 'text' }
import * as runtime from './runtime.ts' with { type: 'text' }

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
function commentText(schema: unknown, indent: string): string {
  if (!isJson(schema) || typeof schema['description'] !== 'string') return ''
  return `${indent}/** ${schema['description'].replaceAll('*/', '* /')} */\n`
}

/** The options of the client's requests. Exact numbers are strings, so that no digits are lost. */
const FORM = { format: 'envelope', compat: 'none', numbers: 'string' } as const

/**
 * A typed client in TypeScript, one file without dependencies. It is generated from the definitions that the
 * OpenAPI document is generated from: the types of every action, then the shared runtime, then the client.
 */
export const clientText = (actions: readonly ApiAction[], version: string): string =>
  [
    `// Client of iostlens ${version}, for Bun, Node and browsers; it needs nothing else.\n//\n${USAGE}`,
    getSourceText(lines),
    getSourceText(runtime),
    getSourceText(follow),
    ...actions.map(typesText),
    clientTypeText(actions),
    createClientText(actions),
  ].join('\n')

/** The same client in JavaScript. */
export const clientScript = (actions: readonly ApiAction[], version: string): string =>
  `// Client of iostlens ${version}. /client.ts is the same with types.\n${new Bun.Transpiler({ loader: 'ts' }).transformSync(clientText(actions, version))}`

const USAGE = `//     import { createClient } from './client.ts'
//     const client = createClient({ url: 'https://example.org', key: '…' })
//     const account = await client.getAccountDetail({ account: 'busyhub' })
//     for await (const row of client.getAccountTx.rows({ account: 'busyhub' })) console.log(row.tx_hash)
//     for await (const row of client.getAccountTx.follow({ account: 'busyhub' })) console.log(row.seq)
`

/** The source text of a module. TypeScript knows only the module's exports, not that it is imported as text. */
function getSourceText(module: object): string {
  const text: unknown = Reflect.get(module, 'default')
  if (typeof text !== 'string') throw new TypeError('The client is built without the text of its runtime.')
  return text.replace(OWN_EXPORTS, '').replace(OWN_IMPORTS, '')
}

/** Exports of the runtime that only the client uses. */
const OWN_EXPORTS = /^\/\/ Only the client.*\nexport \{[^}]*\}\n/m

const OWN_IMPORTS = /^import \{[^}]*\} from '\.\/[^']*'\n+/gm

function typesText(action: ApiAction): string {
  const name = schemaName(action)
  const data = dataSchema(action, FORM)
  const row = action.list === undefined ? '' : `export type ${name}Row = ${name}['${action.list}'][number]\n`
  // The client does not read CSV, for which columns are chosen.
  const params = listParameters(action.params).filter(({ name }) => name !== 'csv')
  return `export type ${name}Params = ${params.length === 0 ? 'Record<string, never>' : `{\n${params.map(parameterText).join('')}}`}
${commentText({ description: action.title.en }, '')}export type ${name} = ${typeText(data)}
${row}`
}

function parameterText({ name, required, spec }: Parameter): string {
  const schema = { type: spec.type, ...(spec.values === undefined ? {} : { enum: spec.values }) }
  const comment = commentText({ description: `${spec.description.en} Format: ${spec.rule.en}.` }, '  ')
  return `${comment}  readonly ${name}${required ? '' : '?'}: ${typeText(schema)}\n`
}

/**
 * The client's kind of an action: one answer, a list, a paged list, a list whose rows have a number, or one
 * with a feed.
 */
function classifyAction({ params: { properties }, list, source }: ApiAction): Kind {
  if (source?.isFeed === true) return 'FollowedList'
  if (list === undefined) return 'Call'
  if (!('page' in properties)) return 'WholeList'
  return 'start_seq' in properties ? 'NumberedList' : 'List'
}

type Kind = 'Call' | 'WholeList' | 'List' | 'NumberedList' | 'FollowedList'

function clientTypeText(actions: readonly ApiAction[]): string {
  const members = actions.map(action => {
    const name = schemaName(action)
    const kind = classifyAction(action)
    const types = `${name}Params, ${name}${kind === 'Call' ? '' : `, ${name}Row`}`
    return `${commentText({ description: action.summary.en }, '  ')}  readonly ${operationId(action)}: ${kind}<${types}>\n`
  })
  return `/** Every action of the service. */\nexport type Client = {\n${members.join('')}}\n`
}

function createClientText(actions: readonly ApiAction[]): string {
  const members = actions.map(action => {
    const name = schemaName(action)
    const path = JSON.stringify(`${action.module}/${action.action}`)
    const kind = classifyAction(action)
    const make = kind.charAt(0).toLowerCase() + kind.slice(1)
    const made =
      kind === 'Call'
        ? `${make}<${name}>(ask, ${path})`
        : `${make}(ask, ${path}, (data: ${name}) => data.${action.list})`
    return `    ${operationId(action)}: ${made},\n`
  })
  return `export const createClient = (options: ClientOptions): Client => {
  const ask = asking(options)
  return {
${members.join('')}  }
}
`
}
