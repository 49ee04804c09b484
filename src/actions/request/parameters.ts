import { type TSchema, type TUnsafe, Type } from '@sinclair/typebox'
import type { Text } from '../text.ts'

/** The kind of thing that a parameter names. Examples take its value from the served chain (`example/scenes.ts`). */
export type Sample =
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

const WORD = Symbol('word')

/** Maximum number of digits of a whole number: those of the greatest signed 64-bit integer. */
export const MOST_DIGITS = 19
/** Pattern of a whole number, without anchors. */
export const WHOLE_NUMBER = `[0-9]{1,${MOST_DIGITS}}`
export const WHOLE_RULE: Text = {
  en: `a whole number of at most ${MOST_DIGITS} digits`,
  zh: `不超过 ${MOST_DIGITS} 位的非负整数`,
}

/** The description of a parameter, for callers and for the parser of requests. */
export type Word<T = unknown> = {
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
  readonly sample?: Sample
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
  readonly elsewhere?: readonly string[]
  /** The description of each value of a list, so that a refusal names the invalid one. */
  readonly each?: Word
  /** For a list that is mostly one value: a refusal of a single one speaks of no list. */
  readonly isMostlyOne?: true
  /** Parses a text; undefined: the value breaks the rule. Called only with texts that match `pattern`; for lists, any. */
  readonly read: (text: string) => T | undefined
}

/** A parameter as a property of `Action.params`: JSON Schema with its word attached. */
export const word = <T>(of: Word<T>): TUnsafe<T> =>
  Type.Unsafe<T>({
    type: of.type,
    description: of.description.en,
    ...(of.type === 'string' ? { pattern: of.pattern } : {}),
    ...(of.values === undefined ? {} : { enum: [...of.values] }),
    ...(of.minimum === undefined ? {} : { minimum: of.minimum }),
    ...(of.maximum === undefined ? {} : { maximum: of.maximum }),
    ...(of.fallback === undefined ? {} : { default: plain(of.fallback) }),
    example: of.example,
    [WORD]: of,
  })

/** A parameter that is 1 or 0; default 0. */
export const flag = (about: Pick<Word, 'description' | 'elsewhere'>): TUnsafe<number> =>
  word<number>({
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

/** Maximum number of values of a list parameter. */
const MOST_VALUES = 50

/** A parameter for a list of values of another parameter's type, joined by commas; duplicates are allowed. */
export const severalOf = <T>(
  schema: TUnsafe<T>,
  about: Pick<Word, 'description' | 'example' | 'sample' | 'aliases' | 'elsewhere' | 'isMostlyOne'>,
): TUnsafe<readonly T[]> => {
  const each = wordOf(schema) as Word<T>
  const one = each.pattern.replace(/^\^|\$$/g, '')
  const pattern = new RegExp(each.pattern)
  return word<readonly T[]>({
    ...about,
    type: 'string',
    rule: {
      en: `1 to ${MOST_VALUES} values joined by commas, each ${each.rule.en}`,
      zh: `1 至 ${MOST_VALUES} 个以英文逗号分隔的值，每个须为${each.rule.zh}`,
    },
    pattern: `^${one}(?:,${one}){0,${MOST_VALUES - 1}}$`,
    each,
    read: text => {
      const parts = text.split(',', MOST_VALUES + 1)
      if (parts.length > MOST_VALUES) return undefined
      const values = parts.map(part => (pattern.test(part) ? each.read(part) : undefined))
      return values.includes(undefined) ? undefined : (values as readonly T[])
    },
  })
}

/** The word attached to a property of `Action.params`. */
export const wordOf = (schema: TSchema): Word => {
  const found = (schema as { readonly [WORD]?: Word })[WORD]
  if (found === undefined) throw new TypeError('A parameter is not defined by `word`.')
  return found
}

const plain = (value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value)
