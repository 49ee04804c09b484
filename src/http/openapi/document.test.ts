import { expect, test } from 'bun:test'
import { actions } from '#actions/registry.ts'
import { listParameters } from '#actions/request/query.ts'
import { formatMethodTemplate, rpcMethods, rpcUnavailable } from '../rpc-methods.ts'
import type { Described } from './action-operation.ts'
import { formatRoute, operationId, schemaName } from './action-operation.ts'
import { buildOpenapi } from './document.ts'

const defaults = { format: 'envelope', compat: 'none', numbers: 'number' } as const
const documentFor = (chosen: Described['chosen'] = {}) =>
  JSON.parse(JSON.stringify(buildOpenapi(actions, { version: '1.2.3', defaults, chosen })))

test('openapi: there is an operation for each action, for any action, and for the node methods', () => {
  const { paths, components } = documentFor()
  expect(Object.keys(paths)).toEqual([
    ...[...actions.map(formatRoute), '/api'],
    ...[...rpcMethods.map(formatMethodTemplate), ...rpcUnavailable.map(name => `/rpc/${name}`)],
    ...['/usage', '/health', '/ready', '/status', '/metrics'],
  ])
  expect(Object.keys(components.schemas)).toEqual([...actions.map(schemaName), 'Error'])
  const ids = Object.values<{ get: { operationId: string } }>(paths).map(({ get }) => get.operationId)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toContain('getAccountTx')
})

test('openapi: each action has its own parameters with their defaults, and examples of their types', () => {
  const { paths } = documentFor()
  for (const action of actions) {
    const { parameters, operationId: id } = paths[formatRoute(action)].get
    expect(id).toBe(operationId(action))
    // Only the document of CSV has the parameter that chooses columns.
    const own = listParameters(action.params).filter(({ name }) => name !== 'csv')
    expect(parameters.map(({ name }: { name: string }) => name)).toEqual([...own.map(({ name }) => name), 'lang'])
    for (const [at, { required, spec }] of own.entries()) {
      const { schema, ...parameter } = parameters[at]
      const fallback = typeof spec.fallback === 'bigint' ? Number(spec.fallback) : spec.fallback
      expect([id, parameter.required, schema.default]).toEqual([id, required, fallback])
      if ('example' in parameter) expect(typeof parameter.example).toBe(spec.type === 'integer' ? 'number' : 'string')
    }
  }
})

test('openapi: the options of the document are constant, required parameters', () => {
  const { paths } = documentFor({ numbers: 'string', compat: 'iostabc' })
  const options = Object.entries({ compat: 'iostabc', numbers: 'string' }).map(([name, value]) =>
    expect.objectContaining({ name, required: true, schema: { type: 'string', enum: [value] } }),
  )
  for (const action of actions)
    expect(paths[formatRoute(action)].get.parameters).toEqual(expect.arrayContaining(options))
})

test('openapi: examples come from the served chain where it has them', () => {
  const paged = actions.filter(({ params }) => params.properties['page'] !== undefined).slice(0, 2)
  const examples = new Map(paged.slice(0, 1).map(action => [action, { params: { page: '7' } }]))
  const document = buildOpenapi(actions, { version: '1.2.3', defaults, chosen: {}, examples })
  const { paths } = JSON.parse(JSON.stringify(document))
  const found = paged.flatMap(action => paths[formatRoute(action)].get.parameters)
  expect(found.filter(({ name }) => name === 'page').map(({ example }) => example)).toEqual([7, undefined])
})

test('openapi: each action lists its failures by status and code', () => {
  const codesAt = (name: string, chosen: Described['chosen'] = {}) => {
    const { paths, components } = documentFor(chosen)
    const action = actions.find(({ action }) => action === name)
    const found = paths[action === undefined ? '' : formatRoute(action)]?.get.responses ?? {}
    return Object.fromEntries(
      Object.entries<{ readonly $ref?: string }>(found).flatMap(([status, { $ref }]) => {
        const response = components.responses[$ref?.split('/').at(-1) ?? '']
        return response === undefined ? [] : [[status, response['x-codes']]]
      }),
    )
  }
  const every = { 400: [4000], 401: [4010], 403: [4030], 405: [4050], 414: [4140], 429: [4290], 500: [5000] }
  const late = { 504: [5040] }
  expect(codesAt('get-overview')).toEqual({ ...every, 503: [5030, 5033], ...late })
  expect(codesAt('get-block-list')).toEqual({ ...every, 409: [4090], 503: [5030, 5031, 5033], ...late })
  expect(codesAt('get-token-detail')).toEqual({ ...every, 404: [4040], 503: [5030, 5031, 5033], ...late })
  const withNode = { ...every, 404: [4040], 503: [5030, 5031, 5032, 5033], ...late }
  expect(codesAt('get-transaction-detail')).toEqual(withNode)
  expect(codesAt('get-token-detail', { compat: 'iostabc' })).not.toHaveProperty('404')
})
