import { expect, test } from 'bun:test'
import Ajv2020 from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { actions } from '#actions/registry.ts'
import { listParameters, type Parameter } from '#actions/request/query.ts'
import { dayOfDate, fromIso } from '#chain/time.ts'
import { formatRoute } from '#http/openapi/action-operation.ts'
import { buildOpenapi } from '#http/openapi/document.ts'
import { seedOf } from '../support/seeded.ts'

/**
 * A parameter's schema in the document against the values that its reader accepts: never narrower, and wider
 * only where it must be.
 */

const RUNS = { numRuns: 300, seed: seedOf(1) }
const defaults = { format: 'envelope', compat: 'none', numbers: 'number' } as const
const pathsFor = (chosen: Parameters<typeof buildOpenapi>[1]['chosen']) =>
  JSON.parse(JSON.stringify(buildOpenapi(actions, { version: '0', defaults, chosen }))).paths
const [paths, csvPaths] = [pathsFor({}), pathsFor({ export: 'csv' })]

type Told = Parameter & { readonly schema: object; readonly action: string }

/** Every parameter of every action, each kind once. */
const parameters: readonly Told[] = [
  ...new Map(
    actions.flatMap(action =>
      listParameters(action.params).map(parameter => {
        // Only actions with columns accept a choice of columns.
        const told: readonly { readonly name: string; readonly schema: object }[] = (
          parameter.name === 'csv' ? csvPaths : paths
        )[formatRoute(action)].get.parameters
        const schema = told.find(({ name }) => name === parameter.name)?.schema ?? {}
        const { name, spec } = parameter
        return [`${name} ${spec.pattern} ${spec.rule.en}`, { ...parameter, schema, action: action.action }] as const
      }),
    ),
  ).values(),
]

const reads = ({ spec }: Parameter, text: string): boolean =>
  new RegExp(spec.pattern).test(text) && spec.read(text) !== undefined
const ajv = new Ajv2020({ strict: false })
/** Whether a value matches the schema. A client sends an integer parameter as a number. */
const takes = ({ spec, schema }: Told, text: string): boolean =>
  ajv.validate(schema, spec.type === 'integer' ? Number(text) : text)

/** A pattern cannot express the length of base58: only decoding shows whether a text is 32 bytes. */
const HASHES = ['hash', 'tx_hash', 'tx_hashes', 'contract', 'account', 'accounts', 'counterparty']
/** A number of digits cannot express a greatest number: `size` has a maximum instead. */
const isExact = (parameter: Parameter): boolean => !HASHES.includes(parameter.name) && parameter.name !== 'size'

test('openapi: the schema of a parameter accepts every value of its reader', () => {
  for (const parameter of parameters) {
    const { pattern, example } = parameter.spec
    const form = fc.stringMatching(new RegExp(pattern))
    const near = fc.oneof(
      form,
      fc.constant(example),
      fc
        .tuple(form, fc.nat(100), fc.string({ maxLength: 2 }))
        .map(([text, at, other]) => text.slice(0, at) + other + text.slice(at + 1)),
    )
    const readable: string[] = []
    const check = (text: string): void => {
      if (!reads(parameter, text)) return
      readable.push(text)
      expect([parameter.name, text, takes(parameter, text)]).toEqual([parameter.name, text, true])
    }
    fc.assert(fc.property(near, check), RUNS)
    expect([parameter.name, readable]).not.toEqual([parameter.name, []])
  }
})

test('openapi: the reader of a parameter accepts all values that match its pattern', () => {
  for (const parameter of parameters.filter(isExact)) {
    const check = (text: string): void =>
      expect([parameter.name, text, reads(parameter, text)]).toEqual([parameter.name, text, true])
    fc.assert(fc.property(fc.stringMatching(new RegExp(parameter.spec.pattern)), check), RUNS)
  }
})

test('openapi: integers are accepted and refused at the same bounds as by the reader', () => {
  const integers = parameters.filter(({ spec }) => spec.type === 'integer')
  expect(integers.length).toBeGreaterThan(5)
  for (const parameter of integers)
    for (const text of [0, 1, 499, 500, 501, 2 ** 53, 9_999_999_999_999_998_000].map(String))
      expect([parameter.name, text, takes(parameter, text)]).toEqual([parameter.name, text, reads(parameter, text)])
})

/** Two digits from 00 to 99. */
const TWO = Array.from({ length: 100 }, (_, at) => String(at).padStart(2, '0'))

test('openapi: existing dates and times match their patterns, and others do not', () => {
  const patternOf = (name: string) =>
    new RegExp(parameters.find(each => each.name === name)?.spec.pattern ?? 'There are no dates.')
  const [date, time] = [patternOf('start_date'), patternOf('start_time')]
  const isDay = (year: number, month: number, day: number): boolean =>
    month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(2_000 + (year % 400), month, 0)).getUTCDate()
  const texts: (readonly [text: string, exists: boolean])[] = []
  for (const year of [0, 4, 100, 400, 1900, 1970, 2000, 2023, 2024, 9999])
    for (const month of TWO)
      for (const day of TWO)
        texts.push([`${String(year).padStart(4, '0')}-${month}-${day}`, isDay(year, Number(month), Number(day))])
  expect(texts.filter(([text, exists]) => date.test(text) !== exists)).toEqual([])
  expect(texts.filter(([text, exists]) => (dayOfDate(text) !== undefined) !== exists)).toEqual([])
  const times = TWO.flatMap(two => [
    [`2026-11-21T${two}:00:00Z`, Number(two) <= 23] as const,
    [`2026-11-21T00:${two}:00Z`, Number(two) <= 59] as const,
    [`2026-11-21T00:00:${two}.5Z`, Number(two) <= 59] as const,
  ])
  expect(times.filter(([text, exists]) => time.test(text) !== exists)).toEqual([])
  expect(times.filter(([text, exists]) => (fromIso(text) !== undefined) !== exists)).toEqual([])
})
