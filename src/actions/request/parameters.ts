import { type TSchema, type TUnsafe, Type } from '@sinclair/typebox'
import type { Text } from '../define.ts'

const WORD = Symbol('word')

/** The description of a parameter, for callers and for the reader of requests. */
export type Word<T = unknown> = {
  readonly description: Text
  /** The rule that a value must obey, worded to follow "must be" in messages. */
  readonly rule: Text
  /** Regular expression of all values that can be right, for the reference. */
  readonly pattern: string
  readonly example: string
  /** Type of the value in the reference. */
  readonly type: 'string' | 'integer'
  readonly values?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  /** Value when the parameter is absent. */
  readonly fallback?: T
  /** Other names of the same parameter. */
  readonly aliases?: readonly string[]
  /** The value of a text; undefined: against the rule. Called only with texts that match `pattern`. */
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

/** The word of a property of `Action.params`. */
export const wordOf = (schema: TSchema): Word => {
  const found = (schema as { readonly [WORD]?: Word })[WORD]
  if (found === undefined) throw new TypeError('A parameter is not defined by `word`.')
  return found
}

const plain = (value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value)
