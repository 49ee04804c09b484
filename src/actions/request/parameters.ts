import { type TSchema, type TUnsafe, Type } from '@sinclair/typebox'
import type { Text } from '../define.ts'

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
    ...(of.fallback === undefined ? {} : { default: plain(of.fallback) }),
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

const plain = (value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value)
