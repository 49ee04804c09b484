import { expect, test } from 'bun:test'
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { actions } from '#actions/registry.ts'
import { listParameters, type Parameter } from '#actions/request/query.ts'
import { formatRoute } from '#http/openapi/action-operation.ts'
import { everyChoice } from '#test/support/every-choice.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { seedOf } from '#test/support/seeded.ts'
import { serviceOn } from '../support/processes/service.ts'
import { loadedStore } from '../support/stores/loaded.ts'

const service = serviceOn(await loadedStore())

const queryOf = (parameters: Readonly<Record<string, string>>): string => new URLSearchParams(parameters).toString()

type Document = {
  readonly paths: Readonly<
    Record<string, { readonly get: { readonly responses: Readonly<Record<string, { readonly $ref?: string }>> } }>
  >
  readonly components: {
    readonly responses: Readonly<Record<string, { readonly 'x-codes': readonly number[] }>>
  }
}

/** Checks an operation's answer against the document's schema for that status. */
async function checkerFor(choice: Readonly<Record<string, string>>) {
  const response = await service.ask(`/openapi.json?${queryOf(choice)}`)
  expect(response.status).toBe(200)
  const document = (await response.json()) as Document
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajv.addSchema(document, 'document')
  const known = new Map<string, ValidateFunction>()
  const validatorOf = (pointer: string): ValidateFunction => {
    const validator = known.get(pointer) ?? ajv.compile({ $ref: `document#${pointer}` })
    known.set(pointer, validator)
    return validator
  }
  return (route: string, status: number, body: unknown): readonly string[] => {
    const path = route.replaceAll('/', '~1')
    const content = 'content/application~1json/schema'
    const response = document.paths[route]?.get.responses[status]
    if (response === undefined) return [`status ${status} is not documented`]
    const { $ref } = response
    const validate = validatorOf(
      $ref === undefined ? `/paths/${path}/get/responses/${status}/${content}` : `${$ref.slice(1)}/${content}`,
    )
    validate(body)
    const known = document.components.responses[$ref?.split('/').at(-1) ?? '']?.['x-codes'] ?? [0]
    const { code = 0 } = $ref === undefined ? {} : (body as { readonly code?: number })
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

/** Every fourth combination has each value of each option. */
const choices = everyChoice().filter((_, at) => SOAK || at % 4 === 0)

test.each(choices.map(choice => [JSON.stringify(choice), choice] as const))(
  'openapi: answers with %s match their document',
  async (_name, choice) => {
    const problems = await checkerFor(choice)
    for (const action of actions) {
      const names = listParameters(action.params).map(({ name }) => name)
      const strange = Object.fromEntries(Object.entries(UNKNOWN).filter(([name]) => names.includes(name)))
      for (const parameters of [
        action.example,
        { ...action.example, ...strange },
        { ...action.example, nonsense: '1' },
      ]) {
        const response = await service.ask(`${formatRoute(action)}?${queryOf({ ...parameters, ...choice })}`, {
          headers: { 'x-api-key': service.key },
        })
        const found = problems(formatRoute(action), response.status, await response.json())
        expect([action.action, parameters, response.status, found]).toEqual([
          action.action,
          parameters,
          response.status,
          [],
        ])
      }
    }
  },
)

const RUNS = { numRuns: SOAK ? 1_000 : 30, seed: seedOf(1) }

/** Values of a parameter: of its form, of any form, or its example. */
function drawValue({ spec: { pattern, example } }: Parameter) {
  return fc.oneof(fc.stringMatching(new RegExp(pattern)), fc.string({ maxLength: 12 }), fc.constant(example))
}

test.each([{}, { numbers: 'string' }, { format: 'bare', compat: 'iostabc' }])(
  'openapi: answers to any values of the parameters match the document, with %p',
  async choice => {
    const problems = await checkerFor(choice)
    for (const action of actions) {
      const route = formatRoute(action)
      const values = Object.fromEntries(
        listParameters(action.params).map(parameter => [parameter.name, fc.option(drawValue(parameter))]),
      )
      await fc.assert(
        fc.asyncProperty(fc.record(values, { requiredKeys: [] }), async given => {
          const changed = Object.entries({ ...action.example, ...given }).flatMap(([name, value]) =>
            value === null ? [] : [[name, value] as const],
          )
          const response = await service.ask(`${route}?${queryOf({ ...Object.fromEntries(changed), ...choice })}`, {
            headers: { 'x-api-key': service.key },
          })
          expect([response.status === 500, problems(route, response.status, await response.json())]).toEqual([
            false,
            [],
          ])
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
    expect([answer.status, problems('/status', answer.status, await answer.json())]).toEqual([200, []])
  }
})

test('openapi: a name or a value outside of the document is refused', async () => {
  for (const query of ['numbers=text', 'number=string', 'numbers=string&numbers=string', '%zz'])
    expect((await service.ask(`/openapi.json?${query}`)).status).toBe(400)
})
