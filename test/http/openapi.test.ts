import { expect, test } from 'bun:test'
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import type { ApiAction } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { listParameters, type Parameter } from '#actions/request/query.ts'
import { parseDay, parseIso } from '#chain/time.ts'
import { formatRoute, rowName } from '#http/openapi/action-operation.ts'
import { buildOpenapi } from '#http/openapi/document.ts'
import { everyChoice } from '#test/support/every-choice.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { seedOf } from '#test/support/seeded.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'
import { limitExample, lists } from './list-calls.ts'

/**
 * The answers of every action, their headers, and the lines of every export, against the document for their options. The
 * schemas of parameters against the values that their readers accept: never narrower, and wider only where they must be.
 */

const service = serviceOn(await loadedStore())

type Params = Readonly<Record<string, string>>

const formatCall = (action: ApiAction, parameters: Params): string =>
  `${formatRoute(action)}?${new URLSearchParams(parameters)}`

/** The document of these options. */
async function documentFor(choice: Params) {
  return JSON.parse(await (await service.ask(`/openapi.json?${new URLSearchParams(choice)}`)).text())
}

const lastOf = ($ref: string | undefined): string => $ref?.split('/').at(-1) ?? ''

/** Checks an operation's answer against the document's schema for that status. */
async function checkerFor(choice: Params) {
  const document = await documentFor(choice)
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajv.addSchema(document, 'document')
  const validators = new Map<string, ValidateFunction>()
  const validatorOf = (pointer: string): ValidateFunction => {
    const validator = validators.get(pointer) ?? ajv.compile({ $ref: `document#${pointer}` })
    validators.set(pointer, validator)
    return validator
  }
  return async (route: string, answer: Response): Promise<readonly string[]> => {
    const [{ status }, body] = [answer, JSON.parse(await answer.text())]
    const response = document.paths[route]?.get.responses[status]
    if (response === undefined) return [`status ${status} is not documented`]
    const { $ref } = response
    const own = `/paths/${route.replaceAll('/', '~1')}/get/responses/${status}`
    const validate = validatorOf(`${$ref?.slice(1) ?? own}/content/application~1json/schema`)
    validate(body)
    const known = document.components.responses[lastOf($ref)]?.['x-codes'] ?? [0]
    const { code = 0 } = $ref === undefined ? {} : body
    if (!known.includes(code)) return [`code ${code} is not documented`]
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
  }
}

/** Values of the right form that no chain has. */
const UNKNOWN = { account: 'nobody_here', token: 'no_such_token', contract: 'nothing.iost', producer: 'nobody_here' }

/** Each value of each option; in long runs every combination. */
const CHOICES: readonly Params[] = SOAK
  ? everyChoice()
  : [
      {},
      { format: 'bare', compat: 'iostabc', numbers: 'string' },
      { format: 'envelope', compat: 'none', numbers: 'number' },
    ]
const RUNS = { numRuns: SOAK ? 1_000 : 30, seed: seedOf(1) }

/** Values of a parameter: of its form, of any form, or its example. */
function drawValue({ spec: { pattern, example } }: Parameter) {
  return fc.oneof(fc.stringMatching(new RegExp(pattern)), fc.string({ maxLength: 12 }), fc.constant(example))
}

test.each(CHOICES.map(choice => [JSON.stringify(choice), choice] as const))(
  'openapi: answers with %s match their document, whatever values the parameters have',
  async (_name, choice) => {
    const problems = await checkerFor(choice)
    const check = async (action: ApiAction, given: Params): Promise<void> => {
      const answer = await service.get(formatCall(action, { ...given, ...choice }))
      const found = await problems(formatRoute(action), answer)
      expect([action.action, given, answer.status === 500, found]).toEqual([action.action, given, false, []])
    }
    for (const action of actions) {
      const { example } = action
      const parameters = listParameters(action.params)
      const strange = Object.entries(UNKNOWN).filter(([name]) => parameters.some(each => each.name === name))
      await check(action, example)
      await check(action, { ...example, ...Object.fromEntries(strange) })
      await check(action, { ...example, nonsense: '1' })
      // The explicit defaults are read by the same code as none.
      if (!SOAK && choice['compat'] === 'none') continue
      const values = Object.fromEntries(parameters.map(each => [each.name, fc.option(drawValue(each))]))
      await fc.assert(
        fc.asyncProperty(fc.record(values, { requiredKeys: [] }), async given => {
          const changed = Object.entries({ ...example, ...given }).filter(([, value]) => value !== null)
          await check(action, Object.fromEntries(changed) as Params)
        }),
        RUNS,
      )
    }
  },
  SOAK ? 3_600_000 : 600_000,
)

test('openapi: the status of a service matches its document, also while nothing is known', async () => {
  const problems = await checkerFor({})
  const unknown = async () => undefined
  for (const each of [service, serviceOn({ ...(await loadedStore()), published: unknown })]) {
    const answer = await each.ask('/status', { headers: { accept: 'application/json' } })
    expect([answer.status, await problems('/status', answer)]).toEqual([200, []])
  }
})

test('openapi: a name or a value outside of the document is refused', async () => {
  for (const query of ['numbers=text', 'number=string', 'numbers=string&numbers=string', '%zz'])
    expect((await service.ask(`/openapi.json?${query}`)).status).toBe(400)
})

const document = await documentFor({})

/** Headers that every HTTP answer has, or that only browsers and caches read. */
const GENERIC =
  /^(?:content-(?:type|length|encoding)|vary|date|referrer-policy|x-content-type-options|access-control-.*)$/

/** Differences between the headers of an answer and the document, behind its status. */
function faultsOf(path: string, { status, headers }: Response): readonly unknown[] {
  const given = document.paths[path]?.get.responses[status]
  const response = given?.$ref === undefined ? given : document.components.responses[lastOf(given.$ref)]
  const own = Object.entries<{ readonly $ref: string }>(response?.headers ?? {})
  const known = new Map(own.map(([name, { $ref }]) => [name.toLowerCase(), document.components.headers[lastOf($ref)]]))
  return [
    status,
    ...[...headers.keys()].filter(name => !known.has(name) && !GENERIC.test(name)),
    ...[...known].flatMap(([name, header]) => {
      const value = headers.get(name)
      if (value === null) return header?.required === true ? [`${name} is missing`] : []
      return header?.schema.type === 'integer' && !/^[0-9]+$/.test(value) ? [`${name}: ${value}`] : []
    }),
  ]
}

test('openapi: the headers of every action match its document for every status', async () => {
  for (const action of actions) {
    const [path, query] = [formatRoute(action), formatCall(action, action.example)]
    const whole = await service.get(query)
    const answers = [
      whole,
      await service.get(query, { 'if-none-match': whole.headers.get('etag') ?? '' }),
      await service.get(`${query}&nonsense=1`),
      await service.ask(query),
      await service.get(`${query}&lang=${'z'.repeat(20_000)}`),
    ]
    const faults = answers.map(answer => faultsOf(path, answer))
    expect([path, faults]).toEqual([path, [[200], [304], [400], [401], [414]]])
  }
})

test('openapi: headers of a rate-limited key, of pages about the service and of the gateway match the document', async () => {
  const slow = serviceOn(await loadedStore(), { plan: { perSecond: 1, perDay: 1 } })
  const overview = '/api/base/get-overview'
  await slow.get(overview)
  expect(faultsOf(overview, await slow.get(overview))).toEqual([429])
  for (const path of ['/health', '/ready', '/status'])
    expect(faultsOf(path, await service.get(path, { accept: 'application/json' }))).toEqual([200])
  const counting = serviceOn(await loadedStore(), { metrics: { type: 'text/plain', text: async () => 'up 1\n' } })
  const counted = await counting.ask('/metrics')
  const again = await counting.get('/metrics', { 'if-none-match': counted.headers.get('etag') ?? '' })
  const answers = [counted, again, await service.ask('/metrics')]
  expect(answers.map(each => faultsOf('/metrics', each))).toEqual([[200], [304], [404]])
  expect(faultsOf('/rpc/getNodeInfo', await service.get('/rpc/getNodeInfo'))).toEqual([503])
})

/** Requires that the lines of a whole list match the document. Returns the number of rows. */
async function expectLines(action: ApiAction, given: Params, ajv: Ajv2020): Promise<number> {
  const text = await (await service.get(formatCall(action, given))).text()
  const lines: readonly unknown[] = text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  const isValid = (name: string, line: unknown) => ajv.validate(`document#/components/schemas/${name}`, line)
  const wrong = lines.filter((line, at) => !isValid(at < lines.length - 1 ? rowName(action) : 'Complete', line))
  expect([action.action, given, wrong]).toEqual([action.action, given, []])
  return lines.length - 1
}
const compileFor = async (choice: Params) =>
  new Ajv2020({ strict: false }).addSchema(await documentFor(choice), 'document')

test.each([
  { format: 'ndjson' },
  { format: 'ndjson', compat: 'iostabc', numbers: 'string' },
  ...(SOAK ? [{ format: 'ndjson', numbers: 'string' }] : []),
])('openapi: lines of whole lists with %p match their document', async chosen => {
  const ajv = await compileFor(chosen)
  for (const action of lists) await expectLines(action, { ...limitExample(action), ...chosen }, ajv)
})

test('openapi: lines of lists that are found by a search match their document', async () => {
  const ajv = await compileFor({ format: 'ndjson' })
  for (const [name, given] of [
    ['get-account-tx', { account: 'busyhub', direction: 'in', min_amount: '5' }],
    ['get-account-tx', { account: 'admin,tokenboss', memo_prefix: 't' }],
    ['get-contract-tx', { contract: 'token.iost', counterparty: 'busyhub' }],
    ['get-token-tx', { token: 'iost', counterparty: 'user_001', min_amount: '1' }],
  ] as const) {
    const action = lists.find(each => each.action === name) as ApiAction
    expect(await expectLines(action, { ...given, format: 'ndjson' }, ajv)).toBeGreaterThan(0)
  }
})

test.each([
  ['ndjson', 'application/x-ndjson'],
  ['csv', 'text/csv'],
])(
  'openapi: the document for %s has only lists, without pages, with the headers that are sent',
  async (format, type) => {
    const { paths } = await documentFor({ format })
    expect(Object.keys(paths).filter(path => path.startsWith('/api'))).toEqual(lists.map(formatRoute))
    for (const action of lists) {
      const { parameters, responses } = paths[formatRoute(action)].get
      const own = parameters.filter(({ name }: Params) => ['page', 'size', 'format'].includes(name ?? ''))
      const schema = { type: 'string', enum: [format] }
      expect(own).toMatchObject([{ name: 'format', required: true, schema }])
      const response = await service.get(formatCall(action, { ...limitExample(action), format }))
      expect(response.headers.get('content-type')).toStartWith(type)
      expect(Object.keys(responses['200'].content)).toEqual([type])
      const missing = Object.keys(responses['200'].headers).filter(name => !response.headers.has(name))
      expect([action.action, missing]).toEqual([action.action, []])
      await response.body?.cancel()
    }
  },
)

test('openapi: the document of feeds has the parameters with which some feed of the action can be opened', async () => {
  const { paths } = await documentFor({ format: 'sse' })
  const asked = ['start_seq', 'start_block', 'end_block', 'after', 'page', 'sort', 'step', 'csv']
  const taken = (path: string) =>
    asked.filter(name => paths[`/api/${path}`].get.parameters.some((each: Params) => each['name'] === name))
  expect(taken('base/get-block-list')).toEqual(['start_seq'])
  expect(taken('producer/get-reward-history')).toEqual(['start_seq'])
  // With filters its rows are found by a search and have no seq.
  expect(taken('account/get-account-tx')).toEqual(['start_seq', 'start_block', 'after'])
})

const READER_RUNS = { numRuns: 300, seed: seedOf(1) }
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
        const { name, spec } = parameter
        // Only actions with columns accept a choice of columns.
        const told = (name === 'csv' ? csvPaths : paths)[formatRoute(action)].get.parameters
        const { schema } = told.find((each: Parameter) => each.name === name)
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
    const changed = fc.tuple(form, fc.nat(100), fc.string({ maxLength: 2 }))
    const near = changed.map(([text, at, other]) => text.slice(0, at) + other + text.slice(at + 1))
    const readable: string[] = []
    const check = (text: string): void => {
      if (!reads(parameter, text)) return
      readable.push(text)
      expect([parameter.name, text, takes(parameter, text)]).toEqual([parameter.name, text, true])
    }
    fc.assert(fc.property(fc.oneof(form, fc.constant(example), near), check), READER_RUNS)
    expect([parameter.name, readable]).not.toEqual([parameter.name, []])
  }
})

test('openapi: the reader of a parameter accepts all values that match its pattern', () => {
  for (const parameter of parameters.filter(isExact)) {
    const check = (text: string): void =>
      expect([parameter.name, text, reads(parameter, text)]).toEqual([parameter.name, text, true])
    fc.assert(fc.property(fc.stringMatching(new RegExp(parameter.spec.pattern)), check), READER_RUNS)
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

test('openapi: existing dates and times match their patterns and readers, and others do not', () => {
  const isMistaken = (name: string, read: (text: string) => unknown) => {
    const pattern = new RegExp(parameters.find(each => each.name === name)?.spec.pattern ?? 'There are no dates.')
    return ([text, exists]: readonly [text: string, exists: boolean]) =>
      pattern.test(text) !== exists || (read(text) !== undefined) !== exists
  }
  const isDay = (year: number, month: number, day: number): boolean =>
    month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(2_000 + (year % 400), month, 0)).getUTCDate()
  const days = ['0000', '0004', '0100', '0400', '1900', '1970', '2000', '2023', '2024', '9999'].flatMap(year =>
    TWO.flatMap(month =>
      TWO.map(day => [`${year}-${month}-${day}`, isDay(Number(year), Number(month), Number(day))] as const),
    ),
  )
  expect(days.filter(isMistaken('start_date', parseDay))).toEqual([])
  const times = TWO.flatMap(two => [
    [`2026-11-21T${two}:00:00Z`, Number(two) <= 23] as const,
    [`2026-11-21T00:${two}:00Z`, Number(two) <= 59] as const,
    [`2026-11-21T00:00:${two}.5Z`, Number(two) <= 59] as const,
  ])
  expect(times.filter(isMistaken('start_time', parseIso))).toEqual([])
})
