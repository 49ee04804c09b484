import { expect, test } from 'bun:test'
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import type { ApiAction } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { listParameters, type Parameter } from '#actions/request/query.ts'
import { formatRoute, rowName } from '#http/openapi/action-operation.ts'
import { everyChoice } from '#test/support/every-choice.ts'
import { type Service, serviceOn } from '#test/support/processes/service.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { seedOf } from '#test/support/seeded.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'

/** The answers of every action, their headers, and the lines of every export, against the document for their options. */

const service = serviceOn(await loadedStore())

type Params = Readonly<Record<string, string>>
const queryOf = (parameters: Params): string => new URLSearchParams(parameters).toString()

const ask = (path: string, headers: Params = {}, { ask, key }: Service = service): Promise<Response> =>
  ask(path, { headers: { 'x-api-key': key, ...headers } })
const call = (action: ApiAction, parameters: Params): Promise<Response> =>
  ask(`${formatRoute(action)}?${queryOf(parameters)}`)

type Referring = { readonly $ref?: string }
type Documented = Referring & {
  readonly headers?: Readonly<Record<string, Referring>>
  readonly content?: object
  readonly 'x-codes'?: readonly number[]
}
type Operation = {
  readonly parameters: readonly { readonly name: string; readonly required: boolean; readonly schema: object }[]
  readonly responses: Readonly<Record<string, Documented>>
}
type Header = { readonly required: boolean; readonly schema: { readonly type: string } }
type Document = {
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>
  readonly components: {
    readonly responses: Readonly<Record<string, Documented>>
    readonly headers: Readonly<Record<string, Header>>
  }
}

async function documentFor(choice: Params): Promise<Document> {
  const response = await service.ask(`/openapi.json?${queryOf(choice)}`)
  expect(response.status).toBe(200)
  return (await response.json()) as Document
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
    const [{ status }, body] = [answer, (await answer.json()) as { readonly code?: number }]
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
const UNKNOWN = {
  account: 'nobody_here',
  token: 'no_such_token',
  contract: 'nothing.iost',
  producer: 'nobody_here',
}

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
      const answer = await call(action, { ...given, ...choice })
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
  const known = Object.entries(response?.headers ?? {}).map(
    ([name, { $ref }]) => [name.toLowerCase(), document.components.headers[lastOf($ref)]] as const,
  )
  const names = known.map(([name]) => name)
  return [
    status,
    ...[...headers.keys()].filter(name => !names.includes(name) && !GENERIC.test(name)),
    ...known.flatMap(([name, header]) => {
      const value = headers.get(name)
      if (value === null) return header?.required === true ? [`${name} is missing`] : []
      return header?.schema.type === 'integer' && !/^[0-9]+$/.test(value) ? [`${name}: ${value}`] : []
    }),
  ]
}

test('openapi: the headers of every action match its document for every status', async () => {
  for (const action of actions) {
    const path = formatRoute(action)
    const query = `${path}?${queryOf(action.example)}`
    const whole = await ask(query)
    const answers = [
      whole,
      await ask(query, { 'if-none-match': whole.headers.get('etag') ?? '' }),
      await ask(`${query}&nonsense=1`),
      await service.ask(query),
      await ask(`${query}&lang=${'z'.repeat(20_000)}`),
    ]
    const faults = answers.map(answer => faultsOf(path, answer))
    expect([path, faults]).toEqual([path, [[200], [304], [400], [401], [414]]])
  }
})

test('openapi: headers of a rate-limited key, of pages about the service and of the gateway match the document', async () => {
  const slow = serviceOn(await loadedStore(), { plan: { perSecond: 1, perDay: 1 } })
  const overview = '/api/base/get-overview'
  await ask(overview, {}, slow)
  expect(faultsOf(overview, await ask(overview, {}, slow))).toEqual([429])
  for (const path of ['/health', '/ready', '/status'])
    expect(faultsOf(path, await service.ask(path, { headers: { accept: 'application/json' } }))).toEqual([200])
  const counting = serviceOn(await loadedStore(), { metrics: { type: 'text/plain', text: async () => 'up 1\n' } })
  const counted = await counting.ask('/metrics')
  const again = await counting.ask('/metrics', { headers: { 'if-none-match': counted.headers.get('etag') ?? '' } })
  const answers = [counted, again, await service.ask('/metrics')]
  expect(answers.map(each => faultsOf('/metrics', each))).toEqual([[200], [304], [404]])
  expect(faultsOf('/rpc/getNodeInfo', await ask('/rpc/getNodeInfo'))).toEqual([503])
})

const lists = actions.filter(({ list }) => list !== undefined)
const readLines = async (response: Response): Promise<readonly unknown[]> =>
  (await response.text())
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))

/** The parameters of the action's example; of lists that may be long for their beginning, except in long runs. */
function limitExample({ params, example: { page, size, ...example } }: ApiAction): Params {
  return SOAK || !Object.hasOwn(params.properties, 'end_seq') ? example : { ...example, end_seq: '1000' }
}

test.each([
  { format: 'ndjson' },
  { format: 'ndjson', compat: 'iostabc', numbers: 'string' },
  ...(SOAK ? [{ format: 'ndjson', numbers: 'string' }] : []),
])('openapi: lines of whole lists with %p match their document', async chosen => {
  const ajv = new Ajv2020({ strict: false }).addSchema(await documentFor(chosen), 'document')
  const isComplete = ajv.compile({ $ref: 'document#/components/schemas/Complete' })
  for (const action of lists) {
    const isRow = ajv.compile({ $ref: `document#/components/schemas/${rowName(action)}` })
    const lines = await readLines(await call(action, { ...limitExample(action), ...chosen }))
    expect([action.action, lines.slice(0, -1).filter(line => !isRow(line))]).toEqual([action.action, []])
    expect([action.action, isComplete(lines.at(-1))]).toEqual([action.action, true])
  }
})

test('openapi: lines of lists that are found by a search match their document', async () => {
  const ajv = new Ajv2020({ strict: false }).addSchema(await documentFor({ format: 'ndjson' }), 'document')
  for (const [name, given] of [
    ['get-account-tx', { account: 'busyhub', direction: 'in', min_amount: '5' }],
    ['get-account-tx', { account: 'admin,tokenboss', memo_prefix: 't' }],
    ['get-contract-tx', { contract: 'token.iost', counterparty: 'busyhub' }],
    ['get-token-tx', { token: 'iost', counterparty: 'user_001', min_amount: '1' }],
  ] as const) {
    const action = lists.find(each => each.action === name) as ApiAction
    const isRow = ajv.compile({ $ref: `document#/components/schemas/${rowName(action)}` })
    const lines = await readLines(await call(action, { ...given, format: 'ndjson' }))
    expect(lines.length).toBeGreaterThan(1)
    const isFound = (line: unknown) => isRow(line) && typeof (line as { id?: unknown }).id === 'string'
    expect([given, lines.slice(0, -1).filter(line => !isFound(line))]).toEqual([given, []])
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
      const { parameters, responses } = paths[formatRoute(action)]?.get ?? { parameters: [], responses: {} }
      expect(parameters.filter(({ name }) => ['page', 'size', 'format'].includes(name))).toMatchObject([
        { name: 'format', required: true, schema: { type: 'string', enum: [format] } },
      ])
      const { page, size, ...given } = action.example
      const response = await call(action, { ...given, format })
      expect(response.headers.get('content-type')).toStartWith(type)
      expect(Object.keys(responses['200']?.content ?? {})).toEqual([type])
      const missing = Object.keys(responses['200']?.headers ?? {}).filter(name => !response.headers.has(name))
      expect([action.action, missing]).toEqual([action.action, []])
      await response.body?.cancel()
    }
  },
)

test('openapi: the document of feeds has the parameters with which some feed of the action can be opened', async () => {
  const { paths } = await documentFor({ format: 'sse' })
  const asked = ['start_seq', 'start_block', 'end_block', 'after', 'page', 'sort', 'step', 'csv']
  const taken = (path: string) =>
    asked.filter(name => paths[`/api/${path}`]?.get.parameters.some(each => each.name === name))
  expect(taken('base/get-block-list')).toEqual(['start_seq'])
  expect(taken('producer/get-reward-history')).toEqual(['start_seq'])
  // With filters its rows are found by a search and have no seq.
  expect(taken('account/get-account-tx')).toEqual(['start_seq', 'start_block', 'after'])
})
