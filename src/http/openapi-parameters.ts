import type { Action } from '#actions/define.ts'
import { OPTION_TEXTS, OPTION_VALUES, type Options } from '#actions/request/options.ts'
import type { Word } from '#actions/request/parameters.ts'
import { parametersOf } from '#actions/request/read.ts'

type Json = Readonly<Record<string, unknown>>

/**
 * The parameters of `/api/`. In OpenAPI 3.1 parameters cannot depend on the values of others, so each is listed once,
 * with the actions that require it, the actions that accept it, and one example per action.
 */
export const apiParameters = (actions: readonly Action[]): readonly Json[] => [
  named('module', 'Module that the action belongs to.', {
    schema: { type: 'string', enum: unique(actions.map(({ module }) => module)) },
  }),
  named('action', 'Name of the query.', {
    schema: { type: 'string', enum: actions.map(({ action }) => action) },
    examples: Object.fromEntries(
      actions.map(({ action, title }) => [action, { summary: title.en, value: action }]),
    ),
  }),
  ...unique(
    actions.flatMap(({ params }) =>
      parametersOf(params).flatMap(({ name, word }) => [name, ...(word.aliases ?? [])]),
    ),
  ).map(name => actionParameter(name, actions)),
  ...(Object.keys(OPTION_VALUES) as (keyof Options)[]).map(name => ({
    name,
    in: 'query',
    required: false,
    description: OPTION_TEXTS[name].en,
    'x-description-zh': OPTION_TEXTS[name].zh,
    schema: { type: 'string', enum: OPTION_VALUES[name] },
  })),
]

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)]

const named = (name: string, description: string, more: Json): Json => ({
  name,
  in: 'query',
  required: true,
  description: `${description} Not case-sensitive.`,
  ...more,
})

type Use = {
  readonly action: string
  readonly required: boolean
  readonly word: Word
  readonly example: string | undefined
}

const actionParameter = (name: string, actions: readonly Action[]): Json => {
  const uses = actions.flatMap(action => usesOf(name, action))
  const list = (of: readonly Use[]) => of.map(({ action }) => action).join(', ')
  const needed = uses.filter(({ required }) => required)
  const optional = uses.filter(({ required }) => !required)
  const texts = unique(uses.map(({ word }) => `${word.description.en} Format: ${word.rule.en}.`))
  const examples = uses.flatMap(({ action, example }) =>
    example === undefined ? [] : [[action, { value: example }] as const],
  )
  const schemas = uses.map(({ word }) => schemaOf(word))
  const [schema = {}] = schemas
  const same = schemas.every(other => JSON.stringify(other) === JSON.stringify(schema))
  return {
    name,
    in: 'query',
    required: false,
    description: [
      ...texts,
      ...(needed.length === 0 ? [] : [`Required for ${list(needed)}.`]),
      ...(optional.length === 0 ? [] : [`Optional for ${list(optional)}.`]),
    ].join(' '),
    schema: same
      ? schema
      : { anyOf: unique(schemas.map(other => JSON.stringify(other))).map(text => JSON.parse(text)) },
    ...(examples.length === 0 ? {} : { examples: Object.fromEntries(examples) }),
  }
}

const usesOf = (name: string, { action, params, example }: Action): readonly Use[] =>
  parametersOf(params)
    .filter(parameter => parameter.name === name || parameter.word.aliases?.includes(name))
    .map(({ name: main, required, word }) => ({
      action,
      // Either of the two names will do, so neither is required by itself.
      required: required && main === name && word.aliases === undefined,
      word,
      example: new Map(Object.entries(example)).get(name),
    }))

const schemaOf = ({ type, pattern, values, minimum, maximum, fallback }: Word): Json => ({
  type,
  ...(type === 'string' && values === undefined ? { pattern } : {}),
  ...(values === undefined ? {} : { enum: values }),
  ...(minimum === undefined ? {} : { minimum }),
  ...(maximum === undefined ? {} : { maximum }),
  ...(fallback === undefined ? {} : { default: typeof fallback === 'bigint' ? Number(fallback) : fallback }),
})
