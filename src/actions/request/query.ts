import { type Static, type TObject, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'
import { lowerAddress } from '#chain/names.ts'
import type { ApiAction, Text } from '../define.ts'
import { badRequest, quoteGiven, refuseRoute, unknownParameter } from './refusals.ts'

/** The kind of thing that a parameter names. Examples take its value from the served chain (`example/choose.ts`). */
export type SampleKind =
  | 'account'
  | 'accounts'
  | 'action'
  | 'block'
  | 'block hash'
  | 'collection'
  | 'contract'
  | 'day'
  | 'function'
  | 'nft'
  | 'producer'
  | 'token'
  | 'transaction'
  | 'transactions'

const PARAMETER_SPEC = Symbol('specification of a parameter')

/** Maximum number of digits of a whole number: those of the greatest signed 64-bit integer. */
export const MAX_DIGITS = 19
/** Pattern of a whole number, without anchors. */
export const WHOLE_NUMBER = `[0-9]{1,${MAX_DIGITS}}`
export const WHOLE_RULE: Text = {
  en: `a whole number of at most ${MAX_DIGITS} digits`,
  zh: `不超过 ${MAX_DIGITS} 位的非负整数`,
}

/** The description of a parameter, for callers and for the parser of requests. */
export type ParameterSpec<T = unknown> = {
  readonly description: Text
  /** The rule that a value must obey, worded to follow "must be" in messages. */
  readonly rule: Text
  /**
   * Regular expression that matches every valid value. That of a list is for the reference only: each of its values is
   * tested alone, because the time of a joined pattern may grow with the product of its parts.
   */
  readonly pattern: string
  readonly example: string
  /** Absent: the example is valid on every chain. Lists of names are joined by commas. */
  readonly sample?: SampleKind
  /** Type of the value in the reference. */
  readonly type: 'string' | 'integer'
  readonly values?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  /** Value when the parameter is absent. */
  readonly fallback?: T
  /** Other names of the same parameter. */
  readonly aliases?: readonly string[]
  /** Names of the parameter in other services. They are refused, with a message that names this parameter. */
  readonly foreignNames?: readonly string[]
  /** The description of each value of a list, so that a refusal names the invalid one. */
  readonly each?: ParameterSpec
  /** For a list that is mostly one value: a refusal of a single one speaks of no list. */
  readonly isMostlyOne?: true
  /** Parses a text; undefined: the value breaks the rule. Called only with texts that match `pattern`; for lists, any. */
  readonly read: (text: string) => T | undefined
}

/** A parameter as a property of `ApiAction.params`: JSON Schema with its specification attached. */
export const defineParameter = <T>(of: ParameterSpec<T>): TUnsafe<T> =>
  Type.Unsafe<T>({
    type: of.type,
    description: of.description.en,
    ...(of.type === 'string' ? { pattern: of.pattern } : {}),
    ...(of.values === undefined ? {} : { enum: [...of.values] }),
    ...(of.minimum === undefined ? {} : { minimum: of.minimum }),
    ...(of.maximum === undefined ? {} : { maximum: of.maximum }),
    ...(of.fallback === undefined ? {} : { default: toJsonDefault(of.fallback) }),
    example: of.example,
    [PARAMETER_SPEC]: of,
  })

/** A parameter that is 1 or 0; default 0. */
export const flag = (about: Pick<ParameterSpec, 'description' | 'foreignNames'>): TUnsafe<number> =>
  defineParameter<number>({
    ...about,
    type: 'integer',
    rule: { en: '0 or 1', zh: '0 或 1' },
    pattern: '^[01]$',
    minimum: 0,
    maximum: 1,
    fallback: 0,
    example: '0',
    read: Number,
  })

const MAX_VALUES = 50

/** A parameter for a list of values of another parameter's type, joined by commas; duplicates are allowed. */
export function defineListParameter<T>(
  schema: TUnsafe<T>,
  about: Pick<ParameterSpec, 'description' | 'example' | 'sample' | 'aliases' | 'foreignNames' | 'isMostlyOne'>,
): TUnsafe<readonly T[]> {
  const each = getParameterSpec(schema) as ParameterSpec<T>
  const one = each.pattern.replace(/^\^|\$$/g, '')
  const pattern = new RegExp(each.pattern)
  return defineParameter<readonly T[]>({
    ...about,
    type: 'string',
    rule: {
      en: `1 to ${MAX_VALUES} values joined by commas, each ${each.rule.en}`,
      zh: `1 至 ${MAX_VALUES} 个以英文逗号分隔的值，每个须为${each.rule.zh}`,
    },
    pattern: `^${one}(?:,${one}){0,${MAX_VALUES - 1}}$`,
    each,
    read: text => {
      const parts = text.split(',', MAX_VALUES + 1)
      if (parts.length > MAX_VALUES) return undefined
      const values = parts.map(part => (pattern.test(part) ? each.read(part) : undefined))
      return values.includes(undefined) ? undefined : (values as readonly T[])
    },
  })
}

/** The specification attached to a property of `ApiAction.params`. */
export function getParameterSpec(schema: TSchema): ParameterSpec {
  const found = (schema as { readonly [PARAMETER_SPEC]?: ParameterSpec })[PARAMETER_SPEC]
  if (found === undefined) throw new TypeError('A parameter is not defined by `defineParameter`.')
  return found
}

const toJsonDefault = (value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value)

/** Decoded pairs of the query string, in order; the API key has been removed. */
export type Query = readonly (readonly [name: string, value: string])[]

/** Cache busters of browsers and old clients: accepted everywhere, never read. */
export const IGNORED: readonly string[] = ['_', 't', 'timestamp']

const COMMON: readonly string[] = ['module', 'action', 'lang', 'format', 'compat', 'numbers']

/**
 * The value of a parameter; undefined when absent. Throws 'bad_request' for a parameter given twice, even
 * with equal values.
 */
export function findSingleValue(query: Query, name: string): string | undefined {
  let found: string | undefined
  for (const [key, value] of query) {
    if (key !== name) continue
    if (found !== undefined) throw repeated(name, query)
    found = value
  }
  return found
}

function repeated(name: string, query: Query) {
  const times = query.filter(([key]) => key === name).length
  return badRequest(
    {
      en: `Parameter ${quoteGiven(name)} is given ${times} times; give it once.`,
      zh: `参数 ${quoteGiven(name)} 出现了 ${times} 次，只能提供一次。`,
    },
    { parameter: name },
  )
}

/** Actions by module and name, built once for each registry. */
const routes = new WeakMap<readonly ApiAction[], ReadonlyMap<string, ApiAction>>()

/** The action for `module` and `action`, ignoring case. Throws 'bad_request' with the nearest name. */
export function requireAction(query: Query, actions: readonly ApiAction[]): ApiAction {
  const [module, action] = [findSingleValue(query, 'module'), findSingleValue(query, 'action')]
  const byName = routes.get(actions) ?? new Map(actions.map(each => [`${each.module} ${each.action}`, each] as const))
  routes.set(actions, byName)
  return byName.get(`${module} ${action}`.toLowerCase()) ?? refuseRoute({ module, action }, actions)
}

/** A parameter of an action as shown in the reference. */
export type Parameter = {
  readonly name: string
  readonly required: boolean
  readonly spec: ParameterSpec
}

/** The parameters of an action, in the order of its declaration. */
export const listParameters = (params: TObject): readonly Parameter[] =>
  Object.entries(params.properties).map(([name, schema]) => {
    const spec = getParameterSpec(schema)
    const required = spec.fallback === undefined && (params.required ?? []).includes(name)
    return { name, required, spec }
  })

/** A parameter with its accepted names and compiled pattern; built once for each action. */
type Reader = Parameter & {
  /** All accepted names of the parameter. */
  readonly names: readonly string[]
  /** undefined: a list, which tests each of its values. */
  readonly pattern: RegExp | undefined
}

type Readers = {
  readonly all: readonly Reader[]
  /** The names that the action reads: those of its parameters, and the options of every call. */
  readonly taken: ReadonlySet<string>
}

const known = new WeakMap<TObject, Readers>()

/** How the parameters of an action are read. */
export function getParameterReaders(params: TObject): Readers {
  const found = known.get(params)
  if (found !== undefined) return found
  const all = listParameters(params).map(parameter => ({
    ...parameter,
    names: [parameter.name, ...(parameter.spec.aliases ?? [])],
    pattern: parameter.spec.each === undefined ? new RegExp(parameter.spec.pattern) : undefined,
  }))
  const readers = { all, taken: new Set([...all.flatMap(({ names }) => names), ...COMMON]) }
  known.set(params, readers)
  return readers
}

/**
 * Parses an action's parameters strictly from text: values are never coerced and never replaced silently.
 * Throws 'bad_request' with the parameter, the value and the rule.
 */
export function readParams<P extends TObject>(
  params: P,
  query: Query,
  { unknown }: { readonly unknown: 'refuse' | 'ignore' },
): Static<P> {
  const readers = getParameterReaders(params)
  const given = new Set<string>()
  for (const [name] of query) {
    given.add(name)
    if (unknown === 'refuse' && !readers.taken.has(name) && !IGNORED.includes(name))
      throw unknownParameter(name, readers.all, COMMON)
  }
  const values: Record<string, unknown> = {}
  for (const reader of readers.all) {
    const { name, required, spec } = reader
    const isGiven = reader.names.some(each => given.has(each))
    const value = isGiven || required ? readOne(reader, query) : spec.fallback
    if (value !== undefined) values[name] = value
  }
  return values as Static<P>
}

/** The value of a parameter that is given or required. */
function readOne({ name, spec, names, pattern }: Reader, query: Query): unknown {
  const given: { readonly key: string; readonly text: string }[] = []
  for (const key of names) {
    const text = findSingleValue(query, key)
    if (text !== undefined) given.push({ key, text })
  }
  const [first] = given
  if (first === undefined)
    throw against(
      name,
      { spec: (spec.isMostlyOne && spec.each) || spec },
      { en: `Parameter '${name}' is missing`, zh: `缺少参数 '${name}'` },
    )
  const second = given.find(({ text }) => text !== first.text)
  if (second !== undefined)
    throw badRequest(
      {
        en: `Parameters '${first.key}' and '${second.key}' are two names of one parameter, but their values differ: ${quoteGiven(first.text)} and ${quoteGiven(second.text)}; give only one of them.`,
        zh: `参数 '${first.key}' 与 '${second.key}' 是同一参数的两个名称，但值不同：${quoteGiven(first.text)} 与 ${quoteGiven(second.text)}；请只提供其中一个。`,
      },
      { parameter: first.key },
    )
  const value = (pattern?.test(first.text) ?? true) ? spec.read(first.text) : undefined
  if (value !== undefined) return value
  const isOne = spec.isMostlyOne === true && !first.text.includes(',')
  if (!isOne) refuseFirstInvalid(first, spec)
  throw against(
    first.key,
    { spec: (isOne && spec.each) || spec, text: first.text },
    {
      en: `Parameter '${first.key}' is ${quoteGiven(first.text)}`,
      zh: `参数 '${first.key}' 的值为 ${quoteGiven(first.text)}`,
    },
  )
}

/** Refuses the first value of a list that breaks the rule of its values. */
function refuseFirstInvalid(
  { key, text }: { readonly key: string; readonly text: string },
  { each }: ParameterSpec,
): void {
  if (each === undefined) return
  const rule = new RegExp(each.pattern)
  for (const [at, part] of text.split(',').entries())
    if (!rule.test(part) || each.read(part) === undefined)
      throw against(
        key,
        { spec: each, text: part },
        {
          en: `Value ${at + 1} of parameter '${key}' is ${quoteGiven(part)}`,
          zh: `参数 '${key}' 的第 ${at + 1} 个值为 ${quoteGiven(part)}`,
        },
      )
}

/** `text`: the refused value. */
function against(
  parameter: string,
  { spec, text = '' }: { readonly spec: ParameterSpec; readonly text?: string },
  what: Text,
) {
  const lower = lowerAddress(text)
  const remedy: Text =
    lower !== text && new RegExp(spec.pattern).test(lower)
      ? { en: ` The chain writes addresses in lower case: ${lower}.`, zh: `链上的地址为小写：${lower}。` }
      : { en: '', zh: '' }
  return badRequest(
    {
      en: `${what.en}; it must be ${spec.rule.en}.${remedy.en}`,
      zh: `${what.zh}；取值须为：${spec.rule.zh}。${remedy.zh}`,
    },
    { parameter },
  )
}
