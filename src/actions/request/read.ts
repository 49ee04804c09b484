import type { Static, TObject } from '@sinclair/typebox'
import type { Text } from '../define.ts'
import { type Word, wordOf } from './parameters.ts'
import { COMMON, IGNORED, oneOf, type Query } from './query.ts'
import { badRequest, nearest, nearestWithin, shown } from './refusals.ts'

/** A parameter of an action as the reference shows it. */
export type Parameter = {
  readonly name: string
  readonly required: boolean
  readonly word: Word
}

/** The parameters of an action in the order of its file. */
export const parametersOf = (params: TObject): readonly Parameter[] =>
  Object.entries(params.properties).map(([name, schema]) => {
    const word = wordOf(schema)
    const required = word.fallback === undefined && (params.required ?? []).includes(name)
    return { name, required, word }
  })

/** A parameter and how a request's text is read; made once for each action. */
type Reader = Parameter & {
  /** The names that a request may use for it. */
  readonly names: readonly string[]
  readonly pattern: RegExp
}

type Readers = { readonly all: readonly Reader[]; readonly names: ReadonlySet<string> }

const known = new WeakMap<TObject, Readers>()

const readersOf = (params: TObject): Readers => {
  const found = known.get(params)
  if (found !== undefined) return found
  const all = parametersOf(params).map(parameter => ({
    ...parameter,
    names: [parameter.name, ...(parameter.word.aliases ?? [])],
    pattern: new RegExp(parameter.word.pattern),
  }))
  const readers = { all, names: new Set(all.flatMap(({ names }) => names)) }
  known.set(params, readers)
  return readers
}

/**
 * Reads an action's parameters strictly from text: nothing is coerced and nothing falls back silently. Throws
 * 'bad_request' that names the parameter, the value and the rule.
 */
export const readParams = <P extends TObject>(
  params: P,
  query: Query,
  { unknown }: { readonly unknown: 'refuse' | 'ignore' },
): Static<P> => {
  const readers = readersOf(params)
  if (unknown === 'refuse') refuseUnknown(readers.names, query)
  const values: Record<string, unknown> = {}
  for (const reader of readers.all) {
    const value = readOne(reader, query)
    if (value !== undefined) values[reader.name] = value
  }
  return values as Static<P>
}

const readOne = ({ name, required, word, names, pattern }: Reader, query: Query): unknown => {
  const [first, second] = givenIn(query, names)
  if (first === undefined) {
    if (!required) return word.fallback
    throw against(name, word, {
      en: `Parameter '${name}' is missing`,
      zh: `缺少参数 '${name}'`,
    })
  }
  if (second !== undefined && second.text !== first.text)
    throw badRequest(
      {
        en: `Parameters '${first.key}' and '${second.key}' are two names of one parameter, but their values differ: ${shown(first.text)} and ${shown(second.text)}; give only one of them.`,
        zh: `参数 '${first.key}' 与 '${second.key}' 是同一参数的两个名称，但值不同：${shown(first.text)} 与 ${shown(second.text)}；请只提供其中一个。`,
      },
      { parameter: first.key },
    )
  const value = pattern.test(first.text) ? word.read(first.text) : undefined
  if (value !== undefined) return value
  throw against(first.key, word, {
    en: `Parameter '${first.key}' is ${shown(first.text)}`,
    zh: `参数 '${first.key}' 的值为 ${shown(first.text)}`,
  })
}

const givenIn = (query: Query, names: readonly string[]) => {
  const given: { readonly key: string; readonly text: string }[] = []
  for (const key of names) {
    const text = oneOf(query, key)
    if (text !== undefined) given.push({ key, text })
  }
  return given
}

const against = (parameter: string, word: Word, what: Text) =>
  badRequest(
    { en: `${what.en}; it must be ${word.rule.en}.`, zh: `${what.zh}；取值须为：${word.rule.zh}。` },
    { parameter },
  )

const refuseUnknown = (names: ReadonlySet<string>, query: Query): void => {
  for (const [name] of query) {
    if (names.has(name) || COMMON.includes(name) || IGNORED.includes(name)) continue
    const own = [...names]
    // A typing error changes at most two characters; for anything else the action's own names are the better guess.
    const near =
      nearestWithin(name, [...own, ...COMMON], 2) ?? nearest(name, own) ?? nearest(name, COMMON) ?? 'action'
    throw badRequest(
      {
        en: `Unknown parameter ${shown(name)}; the nearest one is '${near}'.`,
        zh: `未知参数 ${shown(name)}；最接近的是 '${near}'。`,
      },
      { parameter: near },
    )
  }
}
