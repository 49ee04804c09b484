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

const cases = parameters.map(parameter => [`${parameter.action} ${parameter.name}`, parameter] as const)

test.each(cases)('openapi: the schema of %s accepts every value of its reader', (_name, parameter) => {
  const { pattern, example } = parameter.spec
  const near = fc.oneof(
    fc.stringMatching(new RegExp(pattern)),
    fc.constant(example),
    fc
      .tuple(fc.stringMatching(new RegExp(pattern)), fc.nat(100), fc.string({ maxLength: 2 }))
      .map(([text, at, other]) => text.slice(0, at) + other + text.slice(at + 1)),
  )
  let read = 0
  fc.assert(
    fc.property(near, text => {
      if (!reads(parameter, text)) return
      read += 1
      expect([text, takes(parameter, text)]).toEqual([text, true])
    }),
    RUNS,
  )
  expect(read).toBeGreaterThan(0)
})

test.each(cases.filter(([, parameter]) => isExact(parameter)))(
  'openapi: the reader of %s accepts all values that match its pattern',
  (_name, parameter) => {
    fc.assert(
      fc.property(fc.stringMatching(new RegExp(parameter.spec.pattern)), text => {
        expect([text, reads(parameter, text)]).toEqual([text, true])
      }),
      RUNS,
    )
  },
)

test('openapi: integers are accepted and refused at the same bounds as by the reader', () => {
  const integers = parameters.filter(({ spec }) => spec.type === 'integer')
  expect(integers.length).toBeGreaterThan(5)
  for (const parameter of integers)
    for (const value of [0, 1, 499, 500, 501, 2 ** 53, 9_999_999_999_999_998_000])
      expect([parameter.name, value, takes(parameter, String(value))]).toEqual([
        parameter.name,
        value,
        reads(parameter, String(value)),
      ])
})

const TWO = Array.from({ length: 100 }, (_, at) => String(at).padStart(2, '0'))

test('openapi: existing dates and times match their patterns, and others do not', () => {
  const dates = parameters.find(({ name }) => name === 'start_date')
  const times = parameters.find(({ name }) => name === 'start_time')
  if (dates === undefined || times === undefined) throw new Error('There are no dates.')
  const [date, time] = [dates, times].map(({ spec }) => new RegExp(spec.pattern))
  const wrong: string[] = []
  const check = (text: string, matches: boolean | undefined, exists: boolean): void => {
    if (matches !== exists) wrong.push(text)
  }
  const isDay = (year: number, month: string, day: string): boolean => {
    const length = new Date(Date.UTC(2_000 + (year % 400), Number(month), 0)).getUTCDate()
    return Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= length
  }
  for (const year of [0, 4, 100, 400, 1900, 1970, 1999, 2000, 2023, 2024, 2100, 2400, 9999])
    for (const month of TWO)
      for (const day of TWO) {
        const text = `${String(year).padStart(4, '0')}-${month}-${day}`
        check(text, date?.test(text), isDay(year, month, day))
        check(`${text} is read`, dayOfDate(text) !== undefined, isDay(year, month, day))
      }
  for (const two of TWO)
    for (const [text, most] of [
      [`2026-11-21T${two}:00:00Z`, 23],
      [`2026-11-21T00:${two}:00Z`, 59],
      [`2026-11-21T00:00:${two}.5Z`, 59],
    ] as const) {
      check(text, time?.test(text), Number(two) <= most)
      check(`${text} is read`, fromIso(text) !== undefined, Number(two) <= most)
    }
  expect(wrong).toEqual([])
})
